// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "client_group.hpp"

#include "resource.hpp"

#include <csignal>
#include <thread>

namespace proofs {

using namespace std::chrono_literals;
using pawl::conformance::child;

client_group::client_group(const environment& servers, client_options common, std::size_t processes,
                           std::uint64_t seed)
    : servers_(servers),
      common_(std::move(common)),
      dice_(static_cast<std::minstd_rand::result_type>(seed)),
      next_fault_(clock::now() + 1s) {
    for (std::size_t i = 0; i < processes; ++i)
        members_.push_back({start(i), std::nullopt});
}

child client_group::start(std::size_t index) {
    const auto number = started_++;
    auto client = common_;
    client.process = number;
    auto options = pawl::conformance::launch_as_helper(client_words(client));
    const auto machine = servers_.client_machine(index);
    options.arguments.insert(options.arguments.begin(), machine.launcher.begin(),
                             machine.launcher.end());
    options.output_file = common_.folder + "/" + std::to_string(number) + ".output";
    return child(options);
}

void client_group::disturb() {
    const auto now = clock::now();
    for (member& each : members_)
        if (each.resume_at && now >= *each.resume_at) {
            each.process.resume();
            each.resume_at.reset();
        }
    if (now < next_fault_) return;
    next_fault_ = now + std::uniform_int_distribution<int>(300, 1500)(dice_) * 1ms;
    const auto index = dice_() % members_.size();
    member& victim = members_[index];
    if (victim.resume_at) return;
    if (dice_() % 4 == 0) {
        victim.process.kill_and_reap();
        victim.process = start(index);
        ++kills_;
    } else {
        stop(victim);
    }
}

// For less or for more than the shorter ttl of 1 s.
void client_group::stop(member& victim) {
    victim.process.stop();
    if (is_resource_busy()) return victim.process.resume();
    victim.resume_at = clock::now() + std::uniform_int_distribution<int>(50, 3000)(dice_) * 1ms;
    ++pauses_;
}

bool client_group::is_resource_busy() const {
    std::this_thread::sleep_for(2ms);  // the accesses of the other processes end
    for (std::size_t i = 0; i < common_.locks; ++i)
        if (resource::is_busy(resource_path(common_.folder, i))) return true;
    return false;
}

std::string client_group::finish() {
    std::string problems;
    for (member& each : members_) {
        each.process.resume();
        each.process.close_input();
    }
    for (member& each : members_) {
        const auto status = each.process.wait(60s);
        if (!status)
            problems = "A client process does not end.";
        else if (*status != 0)
            problems = "A client process ended with the wait status " + std::to_string(*status) +
                       "; " + common_.folder + " has its output.";
    }
    return problems;
}

}  // namespace proofs
