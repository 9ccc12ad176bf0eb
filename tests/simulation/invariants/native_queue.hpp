// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The queue of waiters in the native layout: no waiter is passed over or granted the lock in vain
// (I6), and a waiter far from the head refreshes rarely (I18).
#pragma once

#include "rule.hpp"

namespace pawl::simulation {

class native_queue final : public rule {
public:
    using rule::rule;

    void on_lock_executed(lock_record& lock, const executed_command& call) override;
    void on_data_changed(const checked_server& server) override;

    // The lock was granted to this waiter, which is the member of the queue.
    void check_granted(const lock_record& lock, const std::string& member);

private:
    struct lock_queue {
        // By member of the queue (see member_of): the end of its place, in ms of the server's
        // clock.
        std::map<std::string, std::int64_t> leases;
        std::set<std::string> left;                // members
        std::map<std::string, instant> far_since;  // of members, by their last refresh
    };

    void check_far_refresh(const lock_record& lock, const executed_command& call);
    void check_steps(const lock_record& lock, const executed_command& call);
    void check_no_waiter_skipped(const lock_record& lock, std::string_view script);

    std::map<const lock_record*, lock_queue> queues_;
};

}  // namespace pawl::simulation
