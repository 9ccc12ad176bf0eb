// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rows of one lock in plain containers, for tests of `lease_table` without I/O.
#pragma once

#include "core/store/lease_table.hpp"

#include <deque>
#include <set>
#include <string>
#include <vector>

namespace store_tests {

struct stored_lock {
    using holder_row = pawl::core::holder_row<std::string>;
    using waiter_row = pawl::core::waiter_row<std::string>;

    std::vector<holder_row> holders;
    std::deque<waiter_row> queue;
    std::uint32_t total_permits = 0;
    std::uint64_t newest_token = 0;
    std::set<std::string> dead_clients;
    // The owners that were notified, in this order.
    std::vector<std::string> notified, forced;
    pawl::time_point now{std::chrono::hours(1)};
};

// The client of a claim has the claim's owner as its name.
class plain_rows {
public:
    using client_type = std::string;
    using holder_row = stored_lock::holder_row;
    using waiter_row = stored_lock::waiter_row;
    static constexpr pawl::duration claim_window = std::chrono::seconds(2);

    explicit plain_rows(stored_lock& stored, bool may_grant = true)
        : stored_(stored), may_grant_(may_grant), holders_(stored.holders) {
        std::erase_if(holders_, [&](const auto& each) { return each.expires <= stored_.now; });
    }

    std::vector<holder_row>& holders() { return holders_; }
    void insert_holder(const holder_row& holder) { stored_.holders.push_back(holder); }
    void erase_holder(const std::string& owner) {
        std::erase_if(stored_.holders, [&](const auto& each) { return each.owner == owner; });
    }
    void downgrade_holder(const holder_row& holder) {
        erase_holder(holder.owner);
        stored_.holders.push_back(holder);
    }
    void erase_expired_holders() {
        std::erase_if(stored_.holders,
                      [&](const auto& each) { return each.expires <= stored_.now; });
    }
    bool renew_holder(const std::string& owner, pawl::lock_mode mode, pawl::time_point expires) {
        for (auto& each : stored_.holders) {
            if (each.owner != owner || each.mode != mode || each.expires <= stored_.now) continue;
            each.expires = expires;
            return true;
        }
        return false;
    }
    const waiter_row* first_waiter() const {
        return stored_.queue.empty() ? nullptr : &stored_.queue.front();
    }
    void enqueue(const waiter_row& waiter) { stored_.queue.push_back(waiter); }
    bool refresh_waiter(const std::string& owner) {
        for (auto& each : stored_.queue)
            if (each.owner == owner) return !(each.has_expired = false);
        return false;
    }
    void erase_waiter(const std::string& owner) {
        std::erase_if(stored_.queue, [&](const auto& each) { return each.owner == owner; });
    }
    void erase_first_waiter(const waiter_row&) { stored_.queue.pop_front(); }
    std::uint64_t count_waiters() const { return stored_.queue.size(); }
    std::uint32_t total_permits() const { return stored_.total_permits; }
    void set_total_permits(std::uint32_t total) { stored_.total_permits = total; }
    waiter_row row_of(const pawl::spi::claim& requested) const {
        return {pawl::core::share_of(requested),
                requested.owner,
                requested.owner,
                {"host", 1, "test"},
                requested.ttl};
    }
    bool is_alive(const std::string& client) const {
        return !stored_.dead_clients.contains(client);
    }
    bool may_grant() const { return may_grant_; }
    pawl::fencing_token next_token() { return pawl::fencing_token(++stored_.newest_token); }
    std::chrono::system_clock::time_point wall_clock() const { return {}; }
    void notify_waiter(const waiter_row& waiter) { stored_.notified.push_back(waiter.owner); }
    void notify_loss(const holder_row& holder) { stored_.forced.push_back(holder.owner); }

private:
    stored_lock& stored_;
    const bool may_grant_;
    std::vector<holder_row> holders_;
};

}  // namespace store_tests
