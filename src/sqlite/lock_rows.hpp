// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rows of one lock in one transaction: statements without rules. core/store/lease_table.hpp
// describes the members and has the rules.
#pragma once

#include "lock_file.hpp"

#include "core/store/lease_table.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pawl::sqlite {

// The time within which a waiter that was granted the lock must confirm that it is alive.
inline constexpr duration claim_window = std::chrono::milliseconds(1800);
// How long a waiter's row outlives its last refresh.
inline constexpr duration waiter_lease = std::chrono::seconds(4);

// `file` and `name` outlive it.
class lock_rows {
public:
    using client_type = std::string;  // the address of the client's notifier
    using holder_row = core::holder_row<client_type>;
    using waiter_row = core::waiter_row<client_type>;
    static constexpr duration claim_window = sqlite::claim_window;

    lock_rows(lock_file& file, const std::string& name, time_point now,
              durability level = durability::normal) noexcept
        : file_(file), name_(name), now_(now), level_(level) {}

    std::vector<holder_row>& holders();
    // One live holder, without reading the others.
    std::optional<holder_row> find_holder(const std::string& owner);
    void insert_holder(const holder_row& holder);
    void erase_holder(const std::string& owner);
    void downgrade_holder(const holder_row& holder);
    bool renew_holder(const std::string& owner, lock_mode mode, time_point expires);
    void erase_expired_holders();

    std::optional<waiter_row> first_waiter();
    void enqueue(const waiter_row& waiter);
    bool refresh_waiter(const std::string& owner);
    void erase_waiter(const std::string& owner);
    void erase_first_waiter(const waiter_row& first);
    std::uint64_t count_waiters();

    std::uint32_t total_permits();
    void set_total_permits(std::uint32_t total);

    [[nodiscard]] waiter_row row_of(const claim& requested) const {
        return {core::share_of(requested), requested.owner, file_.address(),
                file_.client_identity(), requested.ttl};
    }
    [[nodiscard]] bool is_alive(const std::string& address) const {
        return file_.is_alive(address);
    }
    // A token must be on the disk before it is used.
    [[nodiscard]] bool may_grant() const noexcept { return level_ == durability::full; }
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
    std::optional<holder_row> read_holder(const statement& row) const;

    lock_file& file_;
    const std::string& name_;
    const time_point now_;
    const durability level_;
    std::optional<std::vector<holder_row>> holders_;
    bool has_expired_ = false;  // the file has rows of holders that have expired
};

}  // namespace pawl::sqlite
