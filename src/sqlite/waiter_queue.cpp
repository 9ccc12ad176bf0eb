// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The holders of a lock, its waiters, and the order of service.
#include "store.hpp"

#include "core/util/clock_token.hpp"
#include "core/util/permits.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <limits>

namespace pawl::sqlite {
namespace {

std::int64_t microseconds(std::chrono::system_clock::time_point when) {
    return std::chrono::duration_cast<std::chrono::microseconds>(when.time_since_epoch()).count();
}

// Any program that may write the file may write any number into it. A value out of range counts as
// the nearest valid one, and an unknown mode as the one that excludes all others.
lock_mode read_mode(const statement& row, int column) {
    switch (row.number(column)) {
    case static_cast<int>(lock_mode::shared): return lock_mode::shared;
    case static_cast<int>(lock_mode::permits): return lock_mode::permits;
    default: return lock_mode::exclusive;
    }
}

std::uint32_t read_count(const statement& row, int column) {
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(row.number(column), 0, std::numeric_limits<std::uint32_t>::max()));
}

std::chrono::system_clock::time_point read_wall_time(const statement& row, int column) {
    using std::chrono::system_clock;
    constexpr auto limit =
        std::chrono::duration_cast<std::chrono::microseconds>(system_clock::duration::max())
            .count();
    const std::chrono::microseconds since_1970(std::clamp(row.number(column), -limit, limit));
    return system_clock::time_point(since_1970);
}

}  // namespace

const store::holder_record* store::holder_set::find(std::string_view owner) const noexcept {
    const auto position =
        std::find_if(records.begin(), records.end(),
                     [owner](const holder_record& each) { return each.owner == owner; });
    return position == records.end() ? nullptr : &*position;
}

store::holder_record store::read_holder(const statement& row, time_point now) const {
    holder_record record;
    record.owner = row.text(0);
    record.client_address = row.text(1);
    record.client_identity = {row.text(2), row.number(3), row.text(4)};
    record.since = read_wall_time(row, 5);
    record.expires = from_stored(row.number(7));
    record.token = fencing_token(static_cast<std::uint64_t>(row.number(8)));
    record.mode = read_mode(row, 9);
    record.permits = read_count(row, 10);
    record.is_live = is_live(row.text(6), row.number(11), record.expires, now);
    return record;
}

// The same rule as PAWL_ROW_EXPIRED. A different boot id alone does not prove a reboot. A clock
// that is behind the row's `set_at` does: then the row's instants belong to another clock.
bool store::is_live(std::string_view boot_id, std::int64_t set_at, time_point expires,
                    time_point now) const noexcept {
    return expires > now && (boot_id == boot_id_ || set_at <= to_stored(now));
}

// The new token is larger than the file's counter and than every token that this client has issued
// or received, and not smaller than the clock's: see docs/decisions/003.
std::int64_t store::issue_token() {
    const auto least = std::max(core::clock_token(time_.wall_clock()), newest_token_ + 1);
    auto& counter_row = sql_->next_token.with(least);
    if (!counter_row.next()) database_->fail(SQLITE_CORRUPT);
    const auto token = counter_row.number(0);
    counter_row.run();
    if (token <= newest_token_ || token == std::numeric_limits<std::int64_t>::max())
        database_->fail(SQLITE_CORRUPT);
    newest_token_ = token;
    return token;
}

store::holder_set store::find_holders(const std::string& name, time_point now) {
    holder_set holders;
    auto& row = sql_->holders.with(settings_.name_space, name);
    while (row.next()) {
        auto record = read_holder(row, now);
        if (record.is_live)
            holders.records.push_back(std::move(record));
        else
            holders.has_expired = true;
    }
    return holders;
}

std::optional<store::holder_record> store::find_holder(const std::string& name,
                                                       const std::string& owner, time_point now) {
    auto& row = sql_->holder.with(settings_.name_space, name, owner);
    if (!row.next()) return std::nullopt;
    auto record = read_holder(row, now);
    row.reset();
    return record;
}

void store::insert_holder(const std::string& name, holder_record holder, holder_set& holders,
                          time_point now) {
    // The holders may come from an older copy of the file. If none of them is alive, their token
    // may be too low.
    const auto shared_token =
        core::reader_token(holder.mode, holders.records, [this](const holder_record& each) {
            return notifier_->presence_of(each.client_address) != notifier::presence::gone;
        });
    holder.token =
        shared_token ? *shared_token : fencing_token(static_cast<std::uint64_t>(issue_token()));
    sql_->insert_holder
        .with(settings_.name_space, name, holder.owner, holder.client_address,
              holder.client_identity.host, holder.client_identity.pid,
              holder.client_identity.command, microseconds(holder.since), boot_id_,
              to_stored(holder.expires), static_cast<std::int64_t>(holder.token.value()),
              static_cast<std::int64_t>(holder.mode), std::int64_t{holder.permits}, to_stored(now))
        .write_row();
    holders.records.push_back(std::move(holder));
}

void store::delete_expired_holders(const std::string& name, holder_set& holders, time_point now) {
    if (!std::exchange(holders.has_expired, false)) return;
    sql_->delete_expired_holders.with(boot_id_, to_stored(now), settings_.name_space, name).run();
}

void store::enqueue_waiter(const claim& requested, time_point now) {
    sql_->enqueue_waiter
        .with(settings_.name_space, requested.name, requested.owner, notifier_->address(),
              settings_.client_identity.host, settings_.client_identity.pid,
              settings_.client_identity.command, boot_id_, std::int64_t{requested.ttl.count()},
              to_stored(now + waiter_lease), static_cast<std::int64_t>(requested.mode),
              std::int64_t{core::share_of(requested).permits}, to_stored(now))
        .write_row();
}

std::optional<store::waiter_record> store::first_waiter(const std::string& name, time_point now) {
    auto& row = sql_->first_waiter.with(settings_.name_space, name);
    if (!row.next()) return std::nullopt;
    waiter_record waiter{row.text(0),
                         row.text(1),
                         {row.text(2), row.number(3), row.text(4)},
                         duration(row.number(6)),
                         is_live(row.text(5), row.number(10), from_stored(row.number(7)), now),
                         read_mode(row, 8),
                         read_count(row, 9)};
    row.reset();
    return waiter;
}

bool store::is_dead(const waiter_record& waiter) {
    return !waiter.is_live ||
           notifier_->presence_of(waiter.client_address) == notifier::presence::gone;
}

std::uint32_t store::total_permits_of(const std::string& name) {
    auto& row = sql_->permits.with(settings_.name_space, name);
    const auto total = row.next() ? read_count(row, 0) : 0;
    row.reset();
    return total;
}

void store::check_permits(claim requested, bool already_queued) {
    if (requested.mode != lock_mode::permits) return;
    const auto known_total = total_permits_of(requested.name);
    if (already_queued && known_total != 0) requested.total_permits = 0;
    const auto total = core::check_total(requested, known_total);
    if (known_total == 0)
        sql_->set_permits.with(settings_.name_space, requested.name, std::int64_t{total})
            .write_row();
}

std::uint32_t store::total_permits_for(const std::string& name, core::lock_share share) {
    return share.mode == lock_mode::permits ? total_permits_of(name) : 0;
}

bool store::can_serve_waiter(const std::string& name, const holder_set& holders, time_point now) {
    const auto present = core::occupancy_of(holders.records);
    if (present.excludes_all()) return false;
    const auto waiter = first_waiter(name, now);
    if (!waiter) return false;
    const core::lock_share share{waiter->mode, waiter->permits};
    return core::step_of(share, is_dead(*waiter), present, total_permits_for(name, share)) !=
           core::queue_step::wait;
}

// The queue of one lock, as core::serve_queue needs it.
struct store::served_queue {
    store& file;
    const std::string& name;
    holder_set& holders;
    time_point now;
    const claim* caller;

    std::optional<waiter_record> first() const { return file.first_waiter(name, now); }
    static core::lock_share share_of(const waiter_record& waiter) {
        return {waiter.mode, waiter.permits};
    }
    bool is_dead(const waiter_record& waiter) const {
        return !is_caller(waiter) && file.is_dead(waiter);
    }
    std::uint32_t total_permits(const waiter_record& waiter) const {
        return file.total_permits_for(name, share_of(waiter));
    }
    void grant(const waiter_record& waiter) {
        remove_and_notify(waiter);
        const auto ttl = is_caller(waiter) ? waiter.ttl : std::min(waiter.ttl, claim_window);
        file.insert_holder(name,
                           {waiter.owner,
                            waiter.client_address,
                            waiter.client_identity,
                            file.time_.wall_clock(),
                            saturating_add(now, ttl),
                            {},
                            waiter.mode,
                            waiter.permits,
                            true},
                           holders, now);
    }
    // The woken waiter refreshes, and its refresh throws the error.
    void refuse(const waiter_record& waiter) { remove_and_notify(waiter); }
    void discard(const waiter_record& waiter) {
        file.sql_->delete_waiter.with(waiter.owner).write_row();
    }

private:
    bool is_caller(const waiter_record& waiter) const {
        return caller != nullptr && waiter.owner == caller->owner;
    }
    void remove_and_notify(const waiter_record& waiter) {
        discard(waiter);
        if (is_caller(waiter)) return;
        file.pending_notifications_.emplace_back(
            waiter.client_address, notification{notification::kind::granted, waiter.owner, name});
    }
};

bool store::grant_waiters(const std::string& name, holder_set& holders, time_point now,
                          const claim* caller) {
    served_queue queue{*this, name, holders, now, caller};
    return core::serve_queue(queue, core::occupancy_of(holders.records));
}

attempt_result store::waiting_result(const claim& requested, const holder_set& holders,
                                     time_point now) {
    const auto waiter = first_waiter(requested.name, now);
    return {attempt_result::kind::waiting,
            core::first_expiry(holders.records),
            {},
            false,
            waiter && waiter->owner == requested.owner};
}

}  // namespace pawl::sqlite
