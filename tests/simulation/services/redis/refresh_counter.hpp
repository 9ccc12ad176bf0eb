// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Counts the refreshes that the server executes for each program.
#pragma once

#include "../../server/known_scripts.hpp"
#include "../../server/simulated_network.hpp"

#include <cstdint>
#include <map>

namespace pawl::simulation {

class refresh_counter final : public simulated_network::observer {
public:
    explicit refresh_counter(simulated_network& network) : network_(network) {
        network_.set_observer(this);
    }
    ~refresh_counter() { network_.set_observer(nullptr); }
    refresh_counter(const refresh_counter&) = delete;
    refresh_counter& operator=(const refresh_counter&) = delete;

    void on_executed(simulated_network&, simulated_process& process, const words& command,
                     const redis::reply&) override {
        const auto* const script = command.size() > 1 ? find_script(command[1]) : nullptr;
        if (script != nullptr && script->name == "refresh") ++counts_[&process];
    }
    [[nodiscard]] std::uint64_t of(const simulated_process& process) const {
        const auto found = counts_.find(&process);
        return found == counts_.end() ? 0 : found->second;
    }

private:
    simulated_network& network_;
    std::map<const simulated_process*, std::uint64_t> counts_;
};

}  // namespace pawl::simulation
