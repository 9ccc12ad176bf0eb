// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_rows.hpp"

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

// Empty: the lease has ended.
std::optional<lock_rows::holder_row> lock_rows::read_holder(const statement& row) const {
    const auto expires = from_stored(row.number(7));
    if (!file_.is_live(row.text(6), row.number(11), expires, now_)) return std::nullopt;
    return holder_row{{read_mode(row, 9), read_count(row, 10)},
                      row.text(0),
                      row.text(1),
                      {row.text(2), row.number(3), row.text(4)},
                      read_wall_time(row, 5),
                      expires,
                      fencing_token(static_cast<std::uint64_t>(row.number(8)))};
}

std::vector<lock_rows::holder_row>& lock_rows::holders() {
    if (holders_) return *holders_;
    std::vector<holder_row> live;
    auto& row = file_.sql().holders.with(file_.name_space(), name_);
    while (row.next()) {
        if (auto holder = read_holder(row))
            live.push_back(std::move(*holder));
        else
            has_expired_ = true;
    }
    return holders_.emplace(std::move(live));
}

std::optional<lock_rows::holder_row> lock_rows::find_holder(const std::string& owner) {
    auto& row = file_.sql().holder.with(file_.name_space(), name_, owner);
    if (!row.next()) return std::nullopt;
    auto holder = read_holder(row);
    row.reset();
    return holder;
}

void lock_rows::insert_holder(const holder_row& holder) {
    file_.sql()
        .insert_holder
        .with(file_.name_space(), name_, holder.owner, holder.client, holder.process.host,
              holder.process.pid, holder.process.command, microseconds(holder.since),
              file_.boot_id(), to_stored(holder.expires),
              static_cast<std::int64_t>(holder.token.value()),
              static_cast<std::int64_t>(holder.mode), std::int64_t{holder.permits}, to_stored(now_))
        .write_row();
}

void lock_rows::erase_holder(const std::string& owner) {
    file_.sql().delete_holder.with(file_.name_space(), name_, owner).write_row();
}

void lock_rows::downgrade_holder(const holder_row& holder) {
    file_.sql()
        .downgrade_holder
        .with(to_stored(holder.expires), to_stored(now_), file_.boot_id(), file_.name_space(),
              name_, holder.owner)
        .write_row();
}

bool lock_rows::renew_holder(const std::string& owner, lock_mode mode, time_point expires) {
    file_.sql()
        .renew_holder
        .with(file_.boot_id(), to_stored(now_), to_stored(expires), file_.name_space(), name_,
              owner, static_cast<std::int64_t>(mode))
        .run();
    return file_.connection().changes() == 1;
}

void lock_rows::erase_expired_holders() {
    holders();
    if (!std::exchange(has_expired_, false)) return;
    file_.sql()
        .delete_expired_holders.with(file_.boot_id(), to_stored(now_), file_.name_space(), name_)
        .run();
}

std::optional<lock_rows::waiter_row> lock_rows::first_waiter() {
    auto& row = file_.sql().first_waiter.with(file_.name_space(), name_);
    if (!row.next()) return std::nullopt;
    waiter_row waiter{
        {read_mode(row, 8), read_count(row, 9)},
        row.text(0),
        row.text(1),
        {row.text(2), row.number(3), row.text(4)},
        duration(row.number(6)),
        !file_.is_live(row.text(5), row.number(10), from_stored(row.number(7)), now_)};
    row.reset();
    return waiter;
}

void lock_rows::enqueue(const waiter_row& waiter) {
    file_.sql()
        .enqueue_waiter
        .with(file_.name_space(), name_, waiter.owner, waiter.client, waiter.process.host,
              waiter.process.pid, waiter.process.command, file_.boot_id(),
              std::int64_t{waiter.ttl.count()}, to_stored(now_ + waiter_lease),
              static_cast<std::int64_t>(waiter.mode), std::int64_t{waiter.permits}, to_stored(now_))
        .write_row();
}

bool lock_rows::refresh_waiter(const std::string& owner) {
    file_.sql()
        .refresh_waiter
        .with(to_stored(now_ + waiter_lease), to_stored(now_), file_.boot_id(), owner)
        .run();
    return file_.connection().changes() > 0;
}

void lock_rows::erase_waiter(const std::string& owner) {
    file_.sql().delete_waiter.with(owner).run();
}

void lock_rows::erase_first_waiter(const waiter_row& first) {
    file_.sql().delete_waiter.with(first.owner).write_row();
}

std::uint64_t lock_rows::count_waiters() {
    std::uint64_t count = 0;
    auto& row =
        file_.sql().waiters.with(file_.boot_id(), to_stored(now_), file_.name_space(), name_);
    while (row.next())
        count += is_alive(row.text(0)) ? 1U : 0U;
    return count;
}

std::uint32_t lock_rows::total_permits() {
    auto& row = file_.sql().permits.with(file_.name_space(), name_);
    const auto total = row.next() ? read_count(row, 0) : 0;
    row.reset();
    return total;
}

void lock_rows::set_total_permits(std::uint32_t total) {
    file_.sql().set_permits.with(file_.name_space(), name_, std::int64_t{total}).write_row();
}

}  // namespace pawl::sqlite
