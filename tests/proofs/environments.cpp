// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "environments.hpp"

namespace proofs {

const std::vector<environment_entry>& environments() {
    static const std::vector<environment_entry> all{
        {"sentinel", "a master with two replicas and three Sentinels", &start_sentinel},
        {"cluster", "a Redis Cluster of three masters with a replica each", &start_cluster}};
    return all;
}

}  // namespace proofs
