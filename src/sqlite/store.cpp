#include "store.hpp"

#include "schema.hpp"
#include "statements.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace pawl::sqlite {

store::store(settings what, runtime& time, boost::asio::any_io_executor worker, events told)
    : what_(std::move(what)), time_(time), worker_(std::move(worker)), told_(std::move(told)) {}

store::~store() = default;

void store::open() {
    if (database_) {
        const auto seen = files_->look();
        if (was_replaced(seen))
            abandon();
        else
            files_->refuse_second_name(seen);
    }
    if (!database_) connect();
}

void store::connect() {
    const auto path = path_without_links(checked_path(what_.path));
    refuse_shared(path, file_system_of(path));
    boot_ = what_.boot();
    expect_same_place(what_.path, path);
    prepare_file(path, what_.make_folder);
    expect_same_place(what_.path, path);
    // Before anything is written under this name, and again with the log and its index.
    const file_identity before(what_.path, path);
    before.refuse_second_name(before.look());
    try {
        mark_ = std::make_unique<open_mark>(path, [this] { look_again(); });
        database_ = std::make_unique<database>(path, time_, hurry_);
        prepare_schema(*database_, time_, boot_);
        sql_ = std::make_unique<statements>(*database_);
        sweep();
        files_ = std::make_unique<file_identity>(what_.path, path);
        files_->refuse_second_name(files_->look());
        if (!mark_->shares_index(files_->index())) {
            mark_->warn_others();
            throw database_error(errc::unavailable,
                                 path +
                                     " was replaced under another client of this process, "
                                     "which is letting go of it; try again.",
                                 true);
        }
    } catch (...) {
        disconnect();
        throw;
    }
    if (!bell_) bell_ = std::make_unique<doorbell>(worker_, time_, told_.heard);
}

// Any thread.
void store::look_again() {
    boost::asio::post(worker_, [this] {
        try {
            if (database_ && was_replaced(files_->look())) abandon();
        } catch (...) {}  // the next use tells
    });
}

bool store::was_replaced(file_identity::state seen) const {
    return seen == file_identity::state::replaced || database_->moved();
}

void store::abandon() {
    database_->abandon();
    mark_->warn_others();
    disconnect();
    for (const auto& [owner, ends] : std::exchange(held_, {}))
        told_.lost(owner);
    if (what_.log)
        what_.log(what_.path +
                  ", or its -wal or -shm file, was deleted or replaced; what was held "
                  "in it is lost, and the new file is opened");
}

// What was written into a file that is not at its path any more, nobody else sees.
void store::expect_same_file() {
    if (!was_replaced(files_->look())) return;
    abandon();
    throw database_error(errc::unavailable,
                         what_.path + " was deleted or replaced meanwhile; try again.", true);
}

void store::disconnect() noexcept {
    sql_.reset();
    files_.reset();
    database_.reset();
    mark_.reset();  // after the file is closed, so that no other connection takes itself for the
                    // first
}

void store::close() noexcept {
    disconnect();
    held_.clear();
    bell_.reset();
}

// What dead clients left behind at names that nobody has asked for since.
void store::sweep() {
    const auto now = stored(time_.now());
    transaction sweeping(*database_, durability::normal);
    for (const auto* ended :
         {"DELETE FROM waiters WHERE " PAWL_ROW_ENDED, "DELETE FROM holders WHERE " PAWL_ROW_ENDED,
          "DELETE FROM latches WHERE " PAWL_ROW_ENDED,
          "DELETE FROM latch_places WHERE " PAWL_ROW_ENDED})
        statement(*database_, ended).with(boot_, now).run();
    sweeping.commit();
}

std::optional<standing> store::remember(const claim& what, std::optional<standing> answer) {
    if (answer && answer->what == standing::kind::granted)
        held_.insert_or_assign(what.owner, answer->expires);
    return answer;
}

standing store::attempt(const claim& what, bool wait) {
    return *remember(what, ask(what, wait, false));
}

standing store::ask(const claim& what, bool wait, bool again) {
    return transact(durability::full, [&](time_point now) -> standing {
        check_permits(what, again);
        auto held = find(what.name, now);
        evict(what.name, held, now);
        // Those who wait come first, and we may be among them. Beside an exclusive holder nobody
        // comes in, and there is nothing to look for.
        const bool closed = !held.live.empty() && held.live[0].mode == lock_mode::exclusive;
        const bool behind = closed || serve(what.name, held, now, &what);
        const auto permits = what.mode == lock_mode::permits ? what.permits : 0;
        if (!behind && held.find(what.owner) == nullptr &&
            fits(what.name, what.mode, permits, held))
            put(what.name,
                {what.owner,
                 bell_->address(),
                 what_.who,
                 time_.wall(),
                 after(now, what.ttl),
                 {},
                 what.mode,
                 permits,
                 true},
                held, now);
        if (const auto* mine = held.find(what.owner); mine != nullptr)
            return {standing::kind::granted, mine->expires, mine->token,
                    mine->expires < after(now, what.ttl), false};
        if (!wait) return {};
        enqueue(what, now);
        return waiting(what, held, now);
    });
}

standing store::look(const claim& what) {
    if (auto already = granted(what.name, what.owner)) return *already;
    const auto quiet = transact(durability::normal, [&](time_point now) -> std::optional<standing> {
        const auto held = find(what.name, now);
        sql_->refresh.with(stored(now + waiter_lease), stored(now), boot_, what.owner).run();
        if (database_->changes() == 0 || may_serve(what.name, held, now)) return std::nullopt;
        return waiting(what, held, now);
    });
    // Either somebody fits in, or we were taken for dead and stand in line anew.
    return quiet ? *quiet : *remember(what, ask(what, true, true));
}

std::optional<standing> store::granted(const std::string& name, const std::string& owner) {
    return read([&](time_point now) -> std::optional<standing> {
        const auto held = find(name, owner, now);
        if (!held || !held->live) return std::nullopt;
        held_.insert_or_assign(owner, held->expires);
        return standing{standing::kind::granted, held->expires, held->token, true, false};
    });
}

std::optional<standing> store::leave(const claim& what, bool keep) {
    // Out of the line first: after that nobody can give us anything.
    bool behind_us = false;
    const auto found = transact(durability::normal, [&](time_point now) {
        sql_->leave.with(what.owner).run();
        behind_us = database_->changes() > 0 && may_serve(what.name, find(what.name, now), now);
        return find(what.name, what.owner, now);
    });
    if (found && keep && found->live)
        return remember(
            what, standing{standing::kind::granted, found->expires, found->token, true, false});
    if (found || behind_us) release(what);
    return std::nullopt;
}

release_result store::release(const claim& what) {
    // A token must be on the disk before it is used; with nobody to let in, none is issued.
    for (const auto how : {durability::normal, durability::full}) {
        const auto found = transact(how, [&](time_point now) -> std::optional<release_result> {
            auto held = find(what.name, now);
            const auto erased = std::erase_if(
                held.live, [&](const tenancy& each) { return each.owner == what.owner; });
            if (how == durability::normal && may_serve(what.name, held, now)) return std::nullopt;
            if (erased > 0) sql_->drop.with(what_.name_space, what.name, what.owner).write_row();
            evict(what.name, held, now);
            const bool others = !held.live.empty() && (what.mode == lock_mode::exclusive ||
                                                       held.live[0].mode != what.mode);
            if (how == durability::full) serve(what.name, held, now);
            if (erased > 0) return release_result::released;
            return others ? release_result::taken_over : release_result::expired;
        });
        if (!found) continue;
        held_.erase(what.owner);
        return *found;
    }
    return release_result::unknown;
}

void store::renew(std::span<renewal> batch) {
    const auto now = transact(durability::normal, [&](time_point at) {
        for (auto& line : batch) {
            const auto& what = line.what->claim;
            const auto expires = after(at, line.ttl);
            line.result = renewal::outcome::refused;
            line.deadline = expires - drift(line.ttl);
            if (!held_.contains(what.owner)) continue;
            sql_->renew
                .with(boot_, stored(at), stored(expires), what_.name_space, what.name, what.owner)
                .run();
            if (database_->changes() == 1) line.result = renewal::outcome::extended;
        }
        return at;
    });
    for (const auto& line : batch) {
        if (line.result == renewal::outcome::extended)
            held_.insert_or_assign(line.what->claim.owner, after(now, line.ttl));
    }
    std::erase_if(held_, [now](const auto& each) { return each.second <= now; });
}

std::optional<standing> store::downgrade(const claim& what) {
    // Only readers can come in beside us, with our token: none is issued.
    return transact(durability::normal, [&](time_point now) -> std::optional<standing> {
        auto held = find(what.name, now);
        // Not in another file, though it may have our row.
        const auto* mine = held_.contains(what.owner) ? held.find(what.owner) : nullptr;
        if (mine == nullptr) return std::nullopt;
        const standing result{standing::kind::granted, after(now, what.ttl), mine->token};
        sql_->share
            .with(stored(result.expires), stored(now), boot_, what_.name_space, what.name,
                  what.owner)
            .write_row();
        evict(what.name, held, now);
        held = find(what.name, now);
        serve(what.name, held, now);
        return result;
    });
}

void store::resize(const std::string& name, std::uint32_t permits) {
    transact(durability::full, [&](time_point now) {
        sql_->set_permits.with(what_.name_space, name, std::int64_t{permits}).write_row();
        auto held = find(name, now);
        evict(name, held, now);
        serve(name, held, now);
        return 0;
    });
}

bool store::force_release(const std::string& name) {
    return transact(durability::full, [&](time_point now) {
        auto held = find(name, now);
        const bool was_held = !held.live.empty();
        for (const auto& each : std::exchange(held.live, {}))
            rings_.emplace_back(each.client, ring{ring::kind::forced, each.owner, name});
        sql_->drop_all.with(what_.name_space, name).run();
        serve(name, held, now);
        return was_held;
    });
}

}  // namespace pawl::sqlite
