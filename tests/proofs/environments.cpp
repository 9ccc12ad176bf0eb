// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "environments.hpp"

#include "replicated_servers.hpp"

namespace proofs {

namespace {

std::vector<std::string> faults_of_cluster() {
    auto names = replicated_servers::fault_names();
    names.emplace_back(slot_fault);
    return names;
}

}  // namespace

const std::vector<environment_entry>& environments() {
    static const std::vector<environment_entry> all{
        {"sentinel", "a master with two replicas and three Sentinels",
         replicated_servers::fault_names(), &start_sentinel},
        {"cluster", "a Redis Cluster of three masters with a replica each", faults_of_cluster(),
         &start_cluster}};
    return all;
}

}  // namespace proofs
