// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rows of one lock in one transaction: statements without rules. core/store/lease_table.hpp
// describes the members and has the rules.
#pragma once

#include "lock_file.hpp"

#include "core/store/lease_table.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pawl::sqlite {

// `file` and `name` outlive it.
class lock_rows {
public:
    using client_type = std::string;  // the address of the client's notifier
    using holder_row = core::holder_row<client_type>;
    using waiter_row = core::waiter_row<client_type>;
    static constexpr duration claim_window = sqlite::claim_window;

    lock_rows(lock_file& file, const std::string& name, time_point now,
              sync_level level = sync_level::normal) noexcept
        : file_(file),
          sql_(file.sql()),
          ns_(file.name_space()),
          name_(name),
          now_(now),
          level_(level) {}

    std::vector<holder_row>& holders() {
        if (holders_) return *holders_;
        std::vector<holder_row> live;
        auto& row = sql_.holders.with(ns_, name_);
        while (row.next()) {
            if (auto holder = read_holder(row))
                live.push_back(std::move(*holder));
            else
                has_expired_ = true;
        }
        return holders_.emplace(std::move(live));
    }
    // One live holder, without reading the others.
    std::optional<holder_row> find_holder(const std::string& owner) {
        auto& row = sql_.holder.with(ns_, name_, owner);
        if (!row.next()) return std::nullopt;
        auto holder = read_holder(row);
        row.reset();
        return holder;
    }
    void insert_holder(const holder_row& holder) {
        sql_.insert_holder
            .with(ns_, name_, holder.owner, holder.client, holder.process.host, holder.process.pid,
                  holder.process.command, microseconds(holder.since), file_.boot_id(),
                  to_stored(holder.expires), static_cast<std::int64_t>(holder.token.value()),
                  static_cast<std::int64_t>(holder.mode), std::int64_t{holder.permits},
                  to_stored(now_))
            .write_row();
    }
    void erase_holder(const std::string& owner) {
        sql_.delete_holder.with(ns_, name_, owner).write_row();
    }
    void downgrade_holder(const holder_row& holder) {
        sql_.downgrade_holder
            .with(to_stored(holder.expires), to_stored(now_), file_.boot_id(), ns_, name_,
                  holder.owner)
            .write_row();
    }
    bool renew_holder(const std::string& owner, lock_mode mode, time_point expires) {
        sql_.renew_holder
            .with(file_.boot_id(), to_stored(now_), to_stored(expires), ns_, name_, owner,
                  static_cast<std::int64_t>(mode))
            .run();
        return file_.connection().changes() == 1;
    }
    void erase_expired_holders() {
        holders();
        if (!std::exchange(has_expired_, false)) return;
        sql_.delete_expired_holders.with(file_.boot_id(), to_stored(now_), ns_, name_).run();
    }

    std::optional<waiter_row> first_waiter() {
        auto& row = sql_.first_waiter.with(ns_, name_);
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
    void enqueue(const waiter_row& waiter) {
        sql_.enqueue_waiter
            .with(ns_, name_, waiter.owner, waiter.client, waiter.process.host, waiter.process.pid,
                  waiter.process.command, file_.boot_id(), std::int64_t{waiter.ttl.count()},
                  to_stored(now_ + waiter_lease), static_cast<std::int64_t>(waiter.mode),
                  std::int64_t{waiter.permits}, to_stored(now_))
            .write_row();
    }
    bool refresh_waiter(const std::string& owner) {
        sql_.refresh_waiter
            .with(to_stored(now_ + waiter_lease), to_stored(now_), file_.boot_id(), owner)
            .run();
        return file_.connection().changes() > 0;
    }
    void erase_waiter(const std::string& owner) { sql_.delete_waiter.with(owner).run(); }
    void erase_first_waiter(const waiter_row& first) {
        sql_.delete_waiter.with(first.owner).write_row();
    }
    std::uint64_t count_waiters() {
        std::uint64_t count = 0;
        auto& row = sql_.waiters.with(file_.boot_id(), to_stored(now_), ns_, name_);
        while (row.next())
            count += is_alive(row.text(0)) ? 1U : 0U;
        return count;
    }

    std::uint32_t total_permits() {
        auto& row = sql_.permits.with(ns_, name_);
        const auto total = row.next() ? read_count(row, 0) : 0;
        row.reset();
        return total;
    }
    void set_total_permits(std::uint32_t total) {
        sql_.set_permits.with(ns_, name_, std::int64_t{total}).write_row();
    }

    [[nodiscard]] waiter_row row_of(const claim& requested) const {
        return {core::share_of(requested), requested.owner, file_.address(),
                file_.client_identity(), requested.ttl};
    }
    [[nodiscard]] bool is_alive(const std::string& address) const {
        return file_.is_alive(address);
    }
    // A token must be on the disk before it is used.
    [[nodiscard]] bool may_grant() const noexcept { return level_ == sync_level::full; }
    fencing_token next_token() {
        return fencing_token(static_cast<std::uint64_t>(file_.issue_token()));
    }
    [[nodiscard]] std::chrono::system_clock::time_point wall_clock() const {
        return file_.time().wall_clock();
    }
    void notify_waiter(const waiter_row& waiter) {
        file_.notify(waiter.client, {notification::kind::granted, waiter.owner, name_});
    }
    void notify_loss(const holder_row& holder) {
        file_.notify(holder.client, {notification::kind::forced, holder.owner, name_});
    }

private:
    std::optional<holder_row> read_holder(const statement& row) const {
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

    lock_file& file_;
    statements& sql_;
    const std::string &ns_, &name_;
    const time_point now_;
    const sync_level level_;
    std::optional<std::vector<holder_row>> holders_;
    bool has_expired_ = false;  // the file has rows of holders that have expired
};

}  // namespace pawl::sqlite
