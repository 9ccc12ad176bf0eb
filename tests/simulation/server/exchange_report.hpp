// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Reports one command and its reply to the observer of the network.
#pragma once

#include "simulated_network.hpp"

#include <utility>

namespace pawl::simulation {

class exchange_report {
public:
    exchange_report(simulated_network& network, simulated_process& process, shared_words command)
        : network_(network), command_(std::move(command)) {
        const uncounted_allocations uncounted;
        if (auto* const observer = network_.current_observer())
            observer->on_sent(process, *command_);
    }
    ~exchange_report() { note(nullptr); }
    exchange_report(const exchange_report&) = delete;
    exchange_report& operator=(const exchange_report&) = delete;

    void note(const redis::reply& received) { note(&received); }

private:
    void note(const redis::reply* received) {
        const uncounted_allocations uncounted;
        auto* const observer = network_.current_observer();
        if (observer != nullptr && command_) observer->on_answered(*command_, received);
        command_.reset();
    }

    simulated_network& network_;
    shared_words command_;
};

}  // namespace pawl::simulation
