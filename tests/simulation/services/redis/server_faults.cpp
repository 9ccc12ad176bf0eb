// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "server_faults.hpp"

#include "../../server/refusals.hpp"

#include <algorithm>

using namespace std::chrono_literals;

namespace pawl::simulation {

void server_faults::end_all() {
    have_ended_ = true;
    network_.stop_faults();
    network_.thaw();
    network_.change_data([](simulated_redis& server) { server.set_out_of_memory(false); });
    start_server();
    stop_refusing();
}

void server_faults::inject(const fault& fault) {
    if (!network_.is_up()) return;
    switch (fault.kind) {
    case fault_kind::freeze:
        network_.freeze();
        loop_.schedule_after(fault.length, [this] { network_.thaw(); });
        return;
    case fault_kind::flush:
        facts_.note_fault(network_);
        return network_.change_data([](simulated_redis& server) { server.flush_all(); });
    case fault_kind::forget_scripts:
        return network_.change_data([](simulated_redis& server) { server.forget_scripts(); });
    case fault_kind::evict: return evict(fault);
    case fault_kind::clock_forward:
        facts_.note_clock_set(network_);
        return network_.jump_clock(fault.length / 1us);
    case fault_kind::clock_backward: return network_.jump_clock(-(fault.length / 1us));
    case fault_kind::foreign: return lock_as_other_library(fault);
    case fault_kind::refuse: return start_refusing(fault);
    case fault_kind::data_back: return roll_back(fault);
    case fault_kind::out_of_memory: return fill_memory(fault);
    default: return restart(fault);
    }
}

void server_faults::restart(const fault& fault) {
    if (!network_.is_up()) return;
    if (fault.kind == fault_kind::restart_old) backup_ = network_.server().take_snapshot();
    const auto age = fault.kind == fault_kind::restart_old ? fault.length : instant{};
    // The crash occurs later than the copy, so that the data are old.
    loop_.schedule_after(age, [this, fault] {
        if (!network_.is_up() || have_ended_) return;
        network_.stop_server();
        restart_data_ = fault.kind == fault_kind::restart       ? network_.server().take_snapshot()
                        : fault.kind == fault_kind::restart_old ? backup_
                                                                : simulated_redis::snapshot{};
        if (fault.kind == fault_kind::restart_old) facts_.note_old_data(network_);
        if (fault.kind == fault_kind::restart_empty) facts_.note_fault(network_);
        loop_.schedule_after(std::min<instant>(fault.length, 2s), [this] { start_server(); });
    });
}

void server_faults::roll_back(const fault& fault) {
    loop_.schedule_after(fault.length, [this, copy = network_.server().take_snapshot()] {
        if (!network_.is_up() || have_ended_) return;
        facts_.note_live_rollback(network_);
        network_.change_data([&](simulated_redis& server) { server.roll_back(copy); });
    });
}

void server_faults::fill_memory(const fault& fault) {
    network_.change_data([](simulated_redis& server) { server.set_out_of_memory(true); });
    loop_.schedule_after(fault.length, [this] {
        network_.change_data([](simulated_redis& server) { server.set_out_of_memory(false); });
    });
}

void server_faults::start_server() {
    if (!network_.is_up()) network_.start_server(restart_data_);
}

void server_faults::evict(const fault& fault) {
    if (names_.empty()) return;
    const auto& space = key_space_of(fault);
    const auto lock_keys = keys_in(space, name_of(fault));
    const auto name = space.checker_name(name_of(fault));
    const auto keys = lock_keys.all();
    // The queue of a fair lock consists of several keys, and Java does not expect that only some of
    // them exist. So in Redisson's layout only the lock and the counter are evicted.
    const bool is_redisson = plan_.layout == redis::key_layout::redisson;
    const auto key_count = is_redisson ? 2 : keys.size();
    // Java's release of a permit would begin a new number of free permits.
    const bool keeps_permits = is_redisson && lock_keys.lock == semaphore_name;
    const auto key_index = keeps_permits ? 1 : fault.random_choice / 5 % key_count;
    const std::string key(keys[key_index]);
    if (key != lock_keys.fence && key != lock_keys.queue && key != lock_keys.waiters)
        facts_.note_fault(facts_.locks.at(name));
    network_.change_data(
        [&](simulated_redis& server) { server.evict(space.options.database, key); });
}

// Another library acquires the lock by SET NX PX and releases it later.
void server_faults::lock_as_other_library(const fault& fault) {
    if (names_.empty()) return;
    const auto& space = key_space_of(fault);
    const std::string key(keys_in(space, name_of(fault)).lock);
    const auto value = "foreign-" + std::to_string(fault.time.count());
    const auto ttl = std::max<std::int64_t>(fault.length / 1ms, 1);
    const auto database = space.options.database;
    network_.change_data([&](simulated_redis& server) {
        static_cast<void>(server.execute(0, {"SELECT", std::to_string(database)}));
        static_cast<void>(server.execute(0, {"SET", key, value, "NX", "PX", std::to_string(ttl)}));
    });
    loop_.schedule_after(fault.length / 2, [this, database, key, value] {
        if (network_.server().data(database).text_of(key) == value)
            network_.change_data([&](simulated_redis& server) { server.evict(database, key); });
    });
}

// A later refusal replaces the current one.
void server_faults::start_refusing(const fault& fault) {
    const auto& refusal = refusals[fault.random_choice % refusals.size()];
    trace_.write("the server refuses scripts: " +
                 std::string(refusal.error.substr(0, refusal.error.find(' '))));
    network_.refuse(std::string(refusal.error), refusal.at_once);
    facts_.set_refusing(network_, true);
    loop_.schedule_after(fault.length, [this, number = ++refusal_number_] {
        if (number == refusal_number_) stop_refusing();
    });
}

void server_faults::stop_refusing() {
    network_.refuse({}, false);
    facts_.set_refusing(network_, false);
}

}  // namespace pawl::simulation
