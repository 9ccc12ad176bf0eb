// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a proof needs of the servers under test: their URL and their faults. Another topology or
// store is another `environment`; clients, records and checker stay the same.
#pragma once

#include "pace.hpp"

#include <support/redis_server.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace proofs {

// What the guarantee table allows while a fault lasts. Tokens are distinct in any case.
struct consequences {
    // A server that does not know all holds may grant: holds of two epochs may overlap.
    bool forgets_holds = false;
    // The replaced server may go on granting and releasing for a while. Its tokens are smaller.
    bool two_servers_grant = false;
};

struct fault {
    std::string name;  // for --faults and the table
    consequences can;
    // Injects the fault, waits for its effect and repairs the servers. Throws std::runtime_error if
    // they do not recover.
    std::function<void(pace&)> run;
    std::string obstacle{};  // why it cannot be injected, as a sentence; empty: it can
};

class environment {
public:
    environment() = default;
    environment(const environment&) = delete;
    environment& operator=(const environment&) = delete;
    virtual ~environment() = default;

    // For the clients. `naive`: their tokens come from a plain INCR.
    [[nodiscard]] virtual std::string url(bool naive) const = 0;
    // A token's upper part, which a failover raises; 0 if tokens have none.
    [[nodiscard]] virtual std::uint64_t epoch_of(std::uint64_t token) const = 0;
    // The largest epoch that a server has: each failover raises it by 1. Always 0 if there are
    // none.
    [[nodiscard]] virtual std::uint64_t newest_epoch() = 0;
    // The faults can be run while the environment lives, one at a time.
    [[nodiscard]] virtual std::vector<fault> faults() = 0;
    // Where client process i runs.
    [[nodiscard]] virtual support::machine client_machine(std::size_t index) const = 0;
};

}  // namespace proofs
