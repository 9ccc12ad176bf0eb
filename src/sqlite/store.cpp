#include "store.hpp"

#include "schema.hpp"
#include "statements.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

namespace pawl::sqlite {
namespace {

std::int64_t stored(time_point when) { return when.time_since_epoch().count(); }

time_point instant(std::int64_t stored) { return time_point(duration(stored)); }

std::int64_t microseconds(std::chrono::system_clock::time_point when) {
    return std::chrono::duration_cast<std::chrono::microseconds>(when.time_since_epoch()).count();
}

time_point after(time_point now, duration more) {
    return more > time_point::max() - now ? time_point::max() : now + more;
}

}  // namespace

store::store(settings what, runtime& time, boost::asio::any_io_executor worker,
             std::function<void(ring)> heard)
    : what_(std::move(what)), time_(time), worker_(std::move(worker)), heard_(std::move(heard)) {}

store::~store() = default;

void store::open() {
    if (database_ && database_->moved()) {
        disconnect();
        if (what_.log) what_.log(what_.path + " was deleted or replaced; opening the new one");
    }
    if (database_) return;
    const auto path = checked_path(what_.path);
    refuse_shared(path, file_system_of(path));
    boot_ = this_boot();
    try {
        database_ = std::make_unique<database>(path, time_, hurry_);
        mark_ = std::make_unique<open_mark>(path);
        prepare_schema(*database_, time_);
        sql_ = std::make_unique<statements>(*database_);
        sweep();
    } catch (...) {
        disconnect();
        throw;
    }
    if (!bell_) bell_ = std::make_unique<doorbell>(worker_, time_, heard_);
}

void store::disconnect() noexcept {
    sql_.reset();
    mark_.reset();
    database_.reset();
}

void store::close() noexcept {
    disconnect();
    bell_.reset();
}

// What dead clients left behind at names that nobody has asked for since.
void store::sweep() {
    const auto now = stored(time_.now());
    transaction sweeping(*database_, durability::normal);
    statement(*database_, "DELETE FROM waiters WHERE boot <> ? OR expires <= ?")
        .with(boot_, now)
        .run();
    statement(*database_, "DELETE FROM locks WHERE boot <> ? OR expires <= ?")
        .with(boot_, now)
        .run();
    sweeping.commit();
}

standing store::attempt(const claim& what, bool wait) {
    return transact(durability::full, [&](time_point now) -> standing {
        auto held = find(what.name, now);
        if (!held || !held->live) {
            // Those who wait come first, and we may be among them.
            held = hand_on(what.name, now, &what);
            if (!held) {
                held = tenancy{what.owner,   bell_->address(),     what_.who,
                               time_.wall(), after(now, what.ttl), {},
                               true};
                put(what.name, *held);
            }
        }
        if (held->owner == what.owner)
            return {standing::kind::granted, held->expires, held->token,
                    held->expires < after(now, what.ttl), false};
        if (!wait) return {};
        enqueue(what, now);
        return waiting(what, *held);
    });
}

standing store::look(const claim& what) {
    if (auto already = granted(what.name, what.owner)) return *already;
    const auto quiet = transact(durability::normal, [&](time_point now) -> std::optional<standing> {
        const auto held = find(what.name, now);
        if (!held || !held->live || held->owner == what.owner) return std::nullopt;
        sql_->refresh.with(stored(now + waiter_lease), what.owner).run();
        if (database_->changes() == 0) return std::nullopt;
        return waiting(what, *held);
    });
    // Either it is free, or we were taken for dead and stand in line anew.
    return quiet ? *quiet : attempt(what, true);
}

std::optional<standing> store::granted(const std::string& name, const std::string& owner) {
    return read([&](time_point now) -> std::optional<standing> {
        const auto held = find(name, now);
        if (!held || !held->live || held->owner != owner) return std::nullopt;
        return standing{standing::kind::granted, held->expires, held->token, true, false};
    });
}

std::optional<standing> store::leave(const claim& what, bool keep) {
    // Out of the line first: after that nobody can give us anything.
    const auto found = transact(durability::normal, [&](time_point now) {
        sql_->leave.with(what.owner).run();
        return find(what.name, now);
    });
    if (!found || found->owner != what.owner) return std::nullopt;
    if (keep && found->live)
        return standing{standing::kind::granted, found->expires, found->token, true, false};
    release(what.name, what.owner);
    return std::nullopt;
}

release_result store::release(const std::string& name, const std::string& owner) {
    // A token must be on the disk before it is used; with nobody waiting, none is issued.
    for (const auto how : {durability::normal, durability::full}) {
        const auto found = transact(how, [&](time_point now) -> std::optional<release_result> {
            const auto held = find(name, now);
            if (!held || (held->owner != owner && !held->live)) return release_result::expired;
            if (held->owner != owner) return release_result::taken_over;
            if (how == durability::normal && anybody_waits(name)) return std::nullopt;
            hand_on(name, now);
            return held->live ? release_result::released : release_result::expired;
        });
        if (found) return *found;
    }
    return release_result::unknown;
}

void store::renew(std::span<renewal> batch) {
    transact(durability::normal, [&](time_point now) {
        for (auto& line : batch) {
            const auto& what = line.what->claim;
            const auto expires = after(now, line.ttl);
            sql_->renew
                .with(stored(expires), what_.name_space, what.name, what.owner, boot_, stored(now))
                .run();
            line.result =
                database_->changes() == 1 ? renewal::outcome::extended : renewal::outcome::refused;
            line.deadline = expires - drift(line.ttl);
        }
        return 0;
    });
}

bool store::force_release(const std::string& name) {
    return transact(durability::full, [&](time_point now) {
        const auto victim = find(name, now);
        if (!victim) return false;
        if (victim->live)
            rings_.emplace_back(victim->client, ring{ring::kind::forced, victim->owner, name});
        hand_on(name, now);
        return victim->live;
    });
}

std::optional<store::tenancy> store::find(const std::string& name, time_point now) {
    auto& row = sql_->find.with(what_.name_space, name);
    if (!row.next()) return std::nullopt;
    tenancy found;
    found.owner = row.text(0);
    found.client = row.text(1);
    found.who = {row.text(2), row.number(3), row.text(4)};
    found.since = std::chrono::system_clock::time_point(std::chrono::microseconds(row.number(5)));
    found.expires = instant(row.number(7));
    found.token = fencing_token(static_cast<std::uint64_t>(row.number(8)));
    found.live = row.text(6) == boot_ && found.expires > now;
    row.reset();
    return found;
}

void store::put(const std::string& name, tenancy& lock) {
    auto& counter = sql_->next_token.with();
    if (!counter.next()) database_->fail(SQLITE_CORRUPT);
    lock.token = fencing_token(static_cast<std::uint64_t>(counter.number(0)));
    counter.run();
    sql_->put
        .with(what_.name_space, name, lock.owner, lock.client, lock.who.host, lock.who.pid,
              lock.who.command, microseconds(lock.since), boot_, stored(lock.expires),
              static_cast<std::int64_t>(lock.token.value()))
        .run();
}

void store::enqueue(const claim& what, time_point now) {
    sql_->enqueue
        .with(what_.name_space, what.name, what.owner, bell_->address(), what_.who.host,
              what_.who.pid, what_.who.command, boot_, std::int64_t{what.ttl.count()},
              stored(now + waiter_lease))
        .run();
}

bool store::anybody_waits(const std::string& name) {
    auto& row = sql_->first.with(what_.name_space, name);
    const bool found = row.next();
    row.reset();
    return found;
}

bool store::is_first(const claim& what) {
    auto& row = sql_->first.with(what_.name_space, what.name);
    const bool mine = row.next() && row.text(0) == what.owner;
    row.reset();
    return mine;
}

std::optional<store::tenancy> store::hand_on(const std::string& name, time_point now,
                                             const claim* asking) {
    for (;;) {
        auto& row = sql_->first.with(what_.name_space, name);
        if (!row.next()) break;
        tenancy next{row.text(0),  row.text(1), {row.text(2), row.number(3), row.text(4)},
                     time_.wall(), {},          {},
                     true};
        const bool asks = asking != nullptr && next.owner == asking->owner;
        const duration ttl(row.number(6));
        const bool in_time = row.text(5) == boot_ && instant(row.number(7)) > now;
        row.reset();
        sql_->leave.with(next.owner).run();
        if (!asks && (!in_time || bell_->look(next.client) == doorbell::presence::gone)) continue;
        next.expires = after(now, asks ? ttl : std::min(ttl, claim_window));
        put(name, next);
        if (!asks) rings_.emplace_back(next.client, ring{ring::kind::granted, next.owner, name});
        return next;
    }
    sql_->drop.with(what_.name_space, name).run();
    return std::nullopt;
}

standing store::waiting(const claim& what, const tenancy& held) {
    return {standing::kind::waiting, held.expires, {}, false, is_first(what)};
}

}  // namespace pawl::sqlite
