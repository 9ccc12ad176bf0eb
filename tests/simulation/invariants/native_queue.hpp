// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The queue of waiters in the native layout: no waiter is passed over or granted the lock in vain
// (I6), and a waiter far from the head refreshes rarely (I18).
#pragma once

#include "native_data.hpp"

#include <algorithm>
#include <charconv>

namespace pawl::simulation {

class native_queue final : public rule {
public:
    using rule::rule;

    void on_lock_executed(lock_record& lock, const executed_command& call) override {
        const auto args = call.arguments();
        const auto now_ms = lock.data().now_ms();
        auto& queue = queues_[&lock];
        if (names_waiter(call) && call.returned(0))
            queue.leases[args[3]] = now_ms + std::stoll(args[6]);
        if (call.script == "refresh" && call.returned(0))
            queue.leases[args[2]] = now_ms + std::stoll(call.reply.items.at(4).text);
        if (call.script == "refresh") check_far_refresh(lock, call);
        if (call.script == "leave") queue.left.insert(args[2]);
        check_steps(lock, call);
    }

    // Restored data contain waiters. If the clock was set back, their leases may end later than
    // those of the last requests.
    void on_data_changed(const checked_server& server) override {
        for (auto& [name, lock] : facts_.locks) {
            if (lock.server != &server) continue;
            const auto* const waiters = lock.data().peek<store::hash>(lock.keys.waiters);
            if (waiters == nullptr) continue;
            for (const auto& [member, record] : *waiters) {
                std::int64_t ends_ms = 0;
                std::from_chars(record.data(), record.data() + record.size(), ends_ms);
                auto& known = queues_[&lock].leases[member];
                known = std::max(known, ends_ms);
            }
        }
    }

    // The lock was granted to this waiter, which is the member of the queue.
    void check_granted(const lock_record& lock, const std::string& member) {
        auto& queue = queues_[&lock];
        if (queue.leases[member] <= lock.data().now_ms())
            fail("I6", "the lock was granted to a waiter with an expired lease");
        if (lock.is_calm() && queue.left.contains(member))
            fail("I6", "the lock was granted to a waiter that had left");
    }

private:
    struct lock_queue {
        // By member of the queue (see member_of): the end of its place, in ms of the server's
        // clock.
        std::map<std::string, std::int64_t> leases;
        std::set<std::string> left;                // members
        std::map<std::string, instant> far_since;  // of members, by their last refresh
    };

    // The call asks for a place in the queue.
    static bool names_waiter(const executed_command& call) {
        const auto args = call.arguments();
        return can_enqueue(call.script) && args.size() > 3 && !args[3].empty();
    }

    // `record`: LEASE WINDOW WANT PREFIX
    static bool can_be_granted(const lock_record& lock, const server_holders& holders,
                               const std::string& record, bool first) {
        if (holders.empty()) return true;
        if (!first) return false;
        const auto want = record.substr(record.find(' ', record.find(' ') + 1) + 1);
        if (want[0] != 'p') return want[0] == 's' && is_held_as(lock, "pawl:shared");
        std::int64_t permits_held = std::stoll(want.substr(1));
        for (const auto& [owner, holder] : holders)
            permits_held += holder.permits;
        return is_held_as(lock, "pawl:permits") && permits_held <= semaphore_permits;
    }

    // I18: a waiter that is far from the head refreshes rarely. A script tells it when it comes
    // near; of two replies in a row that call it far, nobody has told it anything in between.
    void check_far_refresh(const lock_record& lock, const executed_command& call) {
        using namespace std::chrono_literals;
        constexpr auto shortest_pause = 4s;
        const auto& member = call.arguments()[2];
        const auto& items = call.reply.items;
        auto& far_since = queues_[&lock].far_since;
        // The first three waiters also refresh when a lease ends.
        const auto first_far = std::max(facts_.scenario_plan.bounds_of_scripts.near_waiters, 3);
        const bool is_far = items.size() == 5 && items[3].number >= first_far;
        if (!is_far) {
            far_since.erase(member);
            return;
        }
        const auto since = std::exchange(far_since[member], now());
        if (since > instant{} && since + shortest_pause > now() && lock.is_calm() &&
            facts_.is_awake(call.process, 10s))
            fail("I18", "a waiter that is far from the head refreshed twice within " +
                            std::to_string((now() - since) / 1ms) + " ms");
    }

    void check_steps(const lock_record& lock, const executed_command& call) {
        const auto args = call.arguments();
        if (call.script == "leave") {
            const auto value = current_value(facts_, lock);
            if (value.starts_with(args[3] + ";") && value != args[4])
                fail("I6", "a waiter left the queue and kept the lock");
        }
        if (call.script == "refresh" || (can_hand_off(call.script) && call.returned(1)))
            check_no_waiter_skipped(lock, call.script);
        if (call.script == "acquire_any_mode" && call.returned(1) &&
            lock.data().peek(lock.keys.queue) != nullptr)
            fail("I6", "a new waiter overtook the queue");
    }

    // No waiter remains in the queue of a lock that could be granted to it.
    void check_no_waiter_skipped(const lock_record& lock, std::string_view script) {
        if (!lock.is_calm() || !current_value(facts_, lock).empty()) return;
        // A script that admits few waiters leaves the others to the next one.
        if (facts_.scenario_plan.bounds_of_scripts.grants_at_once < script_limits().grants_at_once)
            return;
        const auto& data = lock.data();
        const auto* const waiters = data.peek<store::hash>(lock.keys.waiters);
        const auto* const queue = data.peek<store::sorted_set>(lock.keys.queue);
        if (waiters == nullptr || queue == nullptr) return;
        const auto holders = current_holders(lock);
        bool first = true;
        for (const auto& [score, member] : queue->in_order()) {
            const auto record = waiters->find(member);
            const auto client = facts_.processes.find(member.substr(0, member.find(':')));
            if (record == waiters->end() || client == facts_.processes.end() ||
                std::stoll(record->second) <= data.now_ms())
                continue;
            if (!facts_.dead_processes.contains(client->second) &&
                can_be_granted(lock, holders, record->second, first))
                fail("I6",
                     std::string(script) + " left the lock free although a waiter could get it");
            first = false;
        }
    }

    std::map<const lock_record*, lock_queue> queues_;
};

}  // namespace pawl::simulation
