// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The requests in Redisson's layout, as their programs send them and see their replies.
#include "checker.hpp"

#include "../java/java_scripts.hpp"
#include "../server/known_scripts.hpp"

namespace pawl::simulation {
namespace {

// The ids follow the number of permits, two times, the time of an endless permit, and a command.
std::span<const std::string> requested_permit_ids(const words& command) {
    return std::span(command).subspan(3 + std::stoul(command[2]) + 5);
}

bool is_script(const words& command) { return command[0] == "EVALSHA" || command[0] == "EVAL"; }

}  // namespace

void checker::on_sent(simulated_process& process, const words& command) {
    if (!is_redisson() || !is_script(command)) return;
    if (command[1] == text_of(java_script::permits_acquire))
        for (const auto& id : requested_permit_ids(command))
            java_permit_ids_.emplace(id, &process);
}

void checker::on_answered(const words& command, const redis::reply* reply) {
    if (!is_redisson() || !is_script(command)) return;
    const bool is_granted = reply != nullptr && reply->text == "OK";
    if (command[1] == text_of(java_script::permits_acquire) && !is_granted)
        for (const auto& id : requested_permit_ids(command))
            java_permit_ids_.erase(id);
}

}  // namespace pawl::simulation
