// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One server of a scenario, and the faults that happen to it.
#pragma once

#include "../../invariants/facts.hpp"
#include "plan.hpp"

#include <string>
#include <vector>

namespace pawl::simulation {

class server_faults {
public:
    // `names` are the names whose keys this server has.
    server_faults(scheduler& loop, simulated_network& network, scenario_facts& facts, trace& log,
                  const plan& scenario_plan, const std::vector<key_space>& spaces,
                  std::vector<std::string> names)
        : loop_(loop),
          network_(network),
          facts_(facts),
          trace_(log),
          plan_(scenario_plan),
          key_spaces_(spaces),
          names_(std::move(names)) {}

    void inject(const fault& fault);
    void end_all();

private:
    // `random_choice` is a random number; different divisors make the choices independent.
    const key_space& key_space_of(const fault& fault) const {
        return key_spaces_[fault.random_choice / 31 % key_spaces_.size()];
    }
    const std::string& name_of(const fault& fault) const {
        return names_[fault.random_choice % names_.size()];
    }
    void restart(const fault& fault);
    void roll_back(const fault& fault);
    void fill_memory(const fault& fault);
    void start_server();
    void evict(const fault& fault);
    void lock_as_other_library(const fault& fault);
    void start_refusing(const fault& fault);
    void stop_refusing();

    scheduler& loop_;
    simulated_network& network_;
    scenario_facts& facts_;
    trace& trace_;
    const plan& plan_;
    const std::vector<key_space>& key_spaces_;
    const std::vector<std::string> names_;
    simulated_redis::snapshot backup_, restart_data_;
    int refusal_number_ = 0;
    bool have_ended_ = false;
};

}  // namespace pawl::simulation
