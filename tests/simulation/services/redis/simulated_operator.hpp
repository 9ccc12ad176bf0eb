// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The operator of a scenario, who repairs what Redisson leaves behind.
#pragma once

#include "program.hpp"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace pawl::simulation {

class simulated_operator {
public:
    using program_list = std::vector<std::unique_ptr<program>>;
    simulated_operator(simulated_network& network, checker& invariants, const plan& scenario_plan,
                       const std::vector<key_space>& spaces, const program_list& programs)
        : network_(network),
          invariants_(invariants),
          plan_(scenario_plan),
          spaces_(spaces),
          programs_(programs) {}

    // Called every 300 ms.
    void repair(bool faults_ended);

private:
    void repair_queue(const key_space& space);
    void return_permits(const key_space& space);
    void repair_semaphores(bool faults_ended);
    void add_permits(const key_space& space, std::int64_t permits);
    [[nodiscard]] std::string publish_command() const;
    void execute(const key_space& space, const std::vector<words>& commands);

    simulated_network& network_;
    checker& invariants_;
    const plan& plan_;
    const std::vector<key_space>& spaces_;
    const program_list& programs_;
    std::set<const program*> ended_programs_;  // at the last repair
};

}  // namespace pawl::simulation
