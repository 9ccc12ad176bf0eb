// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Counts the commands of one kind that a server executes, for all programs and for each.
#pragma once

#include "known_scripts.hpp"
#include "simulated_network.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace pawl::simulation {

class command_counter final : public simulated_network::observer {
public:
    using predicate = std::function<bool(const words& command)>;
    command_counter(simulated_network& network, predicate counts)
        : network_(network), counts_(std::move(counts)) {
        network_.set_observer(this);
    }
    ~command_counter() override { network_.set_observer(nullptr); }
    command_counter(const command_counter&) = delete;
    command_counter& operator=(const command_counter&) = delete;

    void on_executed(simulated_network&, simulated_process& process, const words& command,
                     const redis::reply&) override {
        if (!counts_(command)) return;
        ++count_;
        ++by_process_[&process];
    }
    [[nodiscard]] int count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t of(const simulated_process& process) const {
        const auto known = by_process_.find(&process);
        return known == by_process_.end() ? 0 : known->second;
    }

private:
    simulated_network& network_;
    const predicate counts_;
    int count_ = 0;
    std::map<const simulated_process*, std::uint64_t> by_process_;
};

[[nodiscard]] inline bool is_refresh(const words& command) {
    const auto* const script = command.size() > 1 ? find_script(command[1]) : nullptr;
    return script != nullptr && script->name == "refresh";
}

}  // namespace pawl::simulation
