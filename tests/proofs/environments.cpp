// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "environments.hpp"

#include "replicated_servers.hpp"

namespace proofs {

namespace {

using namespace std::chrono_literals;

std::vector<std::string> faults_of_cluster() {
    auto names = replicated_servers::fault_names();
    names.emplace_back(slot_fault);
    return names;
}

}  // namespace

const std::vector<environment_entry>& environments() {
    static const std::vector<environment_entry> all{
        {.name = "sentinel",
         .description = "a master with two replicas and three Sentinels",
         .faults = replicated_servers::fault_names(),
         .longest_ttl = 6s,
         .have_epochs = true,
         .start = &start_sentinel},
        {.name = "cluster",
         .description = "a Redis Cluster of three masters with a replica each",
         .faults = faults_of_cluster(),
         .longest_ttl = 6s,
         .have_epochs = true,
         .start = &start_cluster},
        // Its quarantines are a little longer.
        {.name = "redlock",
         .description = "Redlock over five independent servers",
         .faults = redlock_faults(),
         .longest_ttl = 2s,
         .have_epochs = false,
         .start = &start_redlock}};
    return all;
}

}  // namespace proofs
