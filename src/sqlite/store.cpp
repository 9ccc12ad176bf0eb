// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "store.hpp"

#include "schema.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace pawl::sqlite {

store::store(settings store_settings, runtime& time, boost::asio::any_io_executor worker_executor,
             event_handlers handlers)
    : settings_(std::move(store_settings)),
      time_(time),
      worker_executor_(std::move(worker_executor)),
      handlers_(std::move(handlers)) {}

store::~store() = default;

void store::open(duration longest_wait) {
    if (database_) {
        const auto state_seen = files_->current_state();
        if (was_replaced(state_seen))
            abandon();
        else
            files_->refuse_second_name(state_seen);
    }
    if (!database_) connect(longest_wait);
}

void store::connect(duration longest_wait) {
    const auto path = path_without_links(checked_path(settings_.path));
    refuse_shared(path, file_system_of(path));
    boot_id_ = settings_.read_boot_id();
    expect_same_target(settings_.path, path);
    // Made before the file is opened: `open` takes an open file as ready, and each use of the file
    // needs the notifier.
    if (!notifier_)
        notifier_ = std::make_unique<notifier>(worker_executor_, time_, handlers_.on_notification);
    prepare_file(path, settings_.make_folder);
    expect_same_target(settings_.path, path);
    // The identity is read before anything is written under this name, and again with the log and
    // its index.
    const file_identity identity_before(settings_.path, path);
    identity_before.refuse_second_name(identity_before.current_state());
    try {
        open_mark_ = std::make_unique<open_mark>(path, [this] { recheck_files(); });
        database_ = std::make_unique<database>(path, time_, stop_waiting_);
        database_->set_longest_wait(longest_wait);
        prepare_schema(*database_, time_, boot_id_);
        sql_ = std::make_unique<statements>(*database_);
        delete_expired_rows();
        files_ = std::make_unique<file_identity>(settings_.path, path);
        files_->refuse_second_name(files_->current_state());
        if (!open_mark_->shares_index(files_->index())) {
            open_mark_->warn_others();
            throw database_error(errc::unavailable,
                                 path +
                                     " was replaced under another client of this process, "
                                     "which is closing it; try again.",
                                 true);
        }
    } catch (...) {
        disconnect();
        throw;
    }
}

// Called on any thread.
void store::recheck_files() {
    boost::asio::post(worker_executor_, [this] {
        try {
            if (database_ && was_replaced(files_->current_state())) abandon();
        } catch (...) {}  // the next use reports it
    });
}

bool store::was_replaced(file_identity::state state_seen) const {
    return state_seen == file_identity::state::replaced || database_->was_moved();
}

void store::abandon() {
    database_->abandon();
    open_mark_->warn_others();
    disconnect();
    for (const auto& [owner, expires] : std::exchange(own_holds_, {}))
        handlers_.on_loss(owner);
    if (settings_.log)
        settings_.log(settings_.path +
                      ", or its -wal or -shm file, was deleted or replaced; its locks "
                      "are lost, and the new file is opened");
}

// Throws if the file is not at its path any more: no other program would see the changes.
void store::expect_same_file() {
    if (!was_replaced(files_->current_state())) return;
    abandon();
    throw database_error(errc::unavailable,
                         settings_.path + " was deleted or replaced meanwhile; try again.", true);
}

// The transaction is on the disk, so this must not fail. A refresh finds what a lost message said.
void store::send_notifications() noexcept {
    for (const auto& [address, message] : pending_notifications_) {
        try {
            notifier_->send(address, message);
        } catch (const std::bad_alloc&) {}
    }
}

void store::disconnect() noexcept {
    sql_.reset();
    files_.reset();
    database_.reset();
    // The mark is removed after the file is closed, so that no other connection takes itself for
    // the first one.
    open_mark_.reset();
}

void store::close() noexcept {
    disconnect();
    own_holds_.clear();
    notifier_.reset();
}

// Deletes the rows of dead clients at names that nobody has requested since.
void store::delete_expired_rows() {
    const auto now = to_stored(time_.now());
    transaction deletion(*database_, durability::normal);
    for (const auto* ended : {"DELETE FROM waiters WHERE " PAWL_ROW_EXPIRED,
                              "DELETE FROM holders WHERE " PAWL_ROW_EXPIRED,
                              "DELETE FROM latches WHERE " PAWL_ROW_EXPIRED,
                              "DELETE FROM latch_places WHERE " PAWL_ROW_EXPIRED})
        statement(*database_, ended).with(boot_id_, now).run();
    deletion.commit();
}

std::optional<attempt_result> store::remember_grant(const claim& requested,
                                                    std::optional<attempt_result> result) {
    if (result && result->outcome == attempt_result::kind::granted)
        note_grant(requested.owner, result->expires, result->token);
    return result;
}

void store::note_grant(const std::string& owner, time_point expires, fencing_token token) {
    own_holds_.insert_or_assign(owner, expires);
    newest_token_ = std::max(newest_token_, static_cast<std::int64_t>(token.value()));
}

attempt_result store::try_acquire(const claim& requested, bool may_wait, duration longest_wait) {
    longest_wait_ = std::min(longest_wait, database::default_wait);
    constexpr bool already_queued = false;
    return *remember_grant(requested, acquire_or_enqueue(requested, may_wait, already_queued));
}

attempt_result store::acquire_or_enqueue(const claim& requested, bool may_wait,
                                         bool already_queued) {
    return transact(durability::full, [&](time_point now) -> attempt_result {
        check_permits(requested, already_queued);
        auto holders = find_holders(requested.name, now);
        delete_expired_holders(requested.name, holders, now);
        // Waiters are served first, and the caller may be one of them. If there is an exclusive
        // holder, no claim fits, so the queue need not be read.
        const bool has_waiters = core::occupancy_of(holders.records).excludes_all() ||
                                 grant_waiters(requested.name, holders, now, &requested);
        const auto share = core::share_of(requested);
        if (holders.find(requested.owner) == nullptr &&
            core::admits_newcomer(share, has_waiters, core::occupancy_of(holders.records),
                                  total_permits_for(requested.name, share)))
            insert_holder(requested.name,
                          {requested.owner,
                           notifier_->address(),
                           settings_.client_identity,
                           time_.wall_clock(),
                           saturating_add(now, requested.ttl),
                           {},
                           share.mode,
                           share.permits,
                           true},
                          holders, now);
        if (const auto* own_hold = holders.find(requested.owner); own_hold != nullptr)
            return {attempt_result::kind::granted, own_hold->expires, own_hold->token,
                    own_hold->expires < saturating_add(now, requested.ttl), false};
        if (!may_wait) return {};
        enqueue_waiter(requested, now);
        return waiting_result(requested, holders, now);
    });
}

attempt_result store::refresh(const claim& requested) {
    if (auto granted = find_grant(requested.name, requested.owner)) return *granted;
    const auto result =
        transact(durability::normal, [&](time_point now) -> std::optional<attempt_result> {
            const auto holders = find_holders(requested.name, now);
            sql_->refresh_waiter
                .with(to_stored(now + waiter_lease), to_stored(now), boot_id_, requested.owner)
                .run();
            if (database_->changes() == 0 || can_serve_waiter(requested.name, holders, now))
                return std::nullopt;
            return waiting_result(requested, holders, now);
        });
    // Either a waiter fits, or the caller was removed as a dead waiter and joins the queue again.
    if (result) return *result;
    constexpr bool may_wait = true;
    constexpr bool already_queued = true;
    return *remember_grant(requested, acquire_or_enqueue(requested, may_wait, already_queued));
}

std::optional<attempt_result> store::find_grant(const std::string& name, const std::string& owner) {
    return read([&](time_point now) -> std::optional<attempt_result> {
        const auto own_hold = find_holder(name, owner, now);
        if (!own_hold || !own_hold->is_live) return std::nullopt;
        note_grant(owner, own_hold->expires, own_hold->token);
        return attempt_result{attempt_result::kind::granted, own_hold->expires, own_hold->token,
                              true, false};
    });
}

std::optional<attempt_result> store::leave(const claim& requested, bool keep_grant) {
    // The claim leaves the queue first. Afterwards no other client can grant it the lock.
    bool can_serve_next = false;
    const auto own_hold = transact(durability::normal, [&](time_point now) {
        sql_->delete_waiter.with(requested.owner).run();
        can_serve_next = database_->changes() > 0 &&
                         can_serve_waiter(requested.name, find_holders(requested.name, now), now);
        return find_holder(requested.name, requested.owner, now);
    });
    if (own_hold && keep_grant && own_hold->is_live)
        return remember_grant(requested,
                              attempt_result{attempt_result::kind::granted, own_hold->expires,
                                             own_hold->token, true, false});
    if (own_hold || can_serve_next) (void)release(requested);
    return std::nullopt;
}

release_result store::release(const claim& requested) {
    // A token must be on the disk before it is used. Without a waiter to serve, no token is issued.
    for (const auto level : {durability::normal, durability::full}) {
        const auto result = transact(level, [&](time_point now) -> std::optional<release_result> {
            auto holders = find_holders(requested.name, now);
            const auto erased_count = std::erase_if(
                holders.records,
                [&](const holder_record& each) { return each.owner == requested.owner; });
            if (level == durability::normal && can_serve_waiter(requested.name, holders, now))
                return std::nullopt;
            if (erased_count > 0)
                sql_->delete_holder.with(settings_.name_space, requested.name, requested.owner)
                    .write_row();
            delete_expired_holders(requested.name, holders, now);
            const auto missing =
                core::result_of_missing_hold(requested.mode, core::occupancy_of(holders.records));
            if (level == durability::full) grant_waiters(requested.name, holders, now);
            if (erased_count > 0) return release_result::released;
            return missing;
        });
        if (!result) continue;
        own_holds_.erase(requested.owner);
        return *result;
    }
    return release_result::unknown;
}

void store::renew(std::span<renewal> batch) {
    const auto now = transact(durability::normal, [&](time_point set_at) {
        for (auto& entry : batch) {
            const auto& requested = entry.held->claim;
            const auto expires = saturating_add(set_at, entry.ttl);
            entry.result = renewal::outcome::refused;
            entry.deadline = expires - drift(entry.ttl);
            if (!own_holds_.contains(requested.owner)) continue;
            sql_->renew_holder
                .with(boot_id_, to_stored(set_at), to_stored(expires), settings_.name_space,
                      requested.name, requested.owner, static_cast<std::int64_t>(requested.mode))
                .run();
            if (database_->changes() == 1) entry.result = renewal::outcome::extended;
        }
        return set_at;
    });
    for (const auto& entry : batch) {
        if (entry.result == renewal::outcome::extended)
            own_holds_.insert_or_assign(entry.held->claim.owner, saturating_add(now, entry.ttl));
    }
    std::erase_if(own_holds_, [now](const auto& each) { return each.second <= now; });
}

std::optional<attempt_result> store::downgrade(const claim& requested) {
    // Only readers can join this holder, and they get its token: no token is issued.
    const auto downgraded =
        transact(durability::normal, [&](time_point now) -> std::optional<attempt_result> {
            auto holders = find_holders(requested.name, now);
            // A row of the same owner in another file does not count.
            const auto* own_hold =
                own_holds_.contains(requested.owner) ? holders.find(requested.owner) : nullptr;
            if (own_hold == nullptr) return std::nullopt;
            const attempt_result result{attempt_result::kind::granted,
                                        saturating_add(now, requested.ttl), own_hold->token};
            sql_->downgrade_holder
                .with(to_stored(result.expires), to_stored(now), boot_id_, settings_.name_space,
                      requested.name, requested.owner)
                .write_row();
            delete_expired_holders(requested.name, holders, now);
            holders = find_holders(requested.name, now);
            grant_waiters(requested.name, holders, now);
            return result;
        });
    return remember_grant(requested, downgraded);
}

void store::resize(const std::string& name, std::uint32_t permits) {
    transact(durability::full, [&](time_point now) {
        sql_->set_permits.with(settings_.name_space, name, std::int64_t{permits}).write_row();
        auto holders = find_holders(name, now);
        delete_expired_holders(name, holders, now);
        grant_waiters(name, holders, now);
        return 0;
    });
}

bool store::force_release(const std::string& name, fencing_token expected) {
    return transact(durability::full, [&](time_point now) {
        auto holders = find_holders(name, now);
        const bool was_held = !holders.records.empty();
        const auto has_token = [&](const auto& each) { return each.token == expected; };
        if (was_held && expected && std::ranges::none_of(holders.records, has_token)) return false;
        std::erase_if(holders.records, [&](const auto& each) {
            if (expected && each.token > expected) return false;
            pending_notifications_.emplace_back(
                each.client_address, notification{notification::kind::forced, each.owner, name});
            sql_->delete_holder.with(settings_.name_space, name, each.owner).write_row();
            return true;
        });
        delete_expired_holders(name, holders, now);
        grant_waiters(name, holders, now);
        return was_held;
    });
}

}  // namespace pawl::sqlite
