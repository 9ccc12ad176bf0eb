// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl redlock init` in a simulated program of its own.
#pragma once

#include "../../kernel/trace.hpp"
#include "../../kernel/virtual_runtime.hpp"
#include "core/util/spi.hpp"
#include "redlock_plan.hpp"
#include "redlock_service.hpp"

#include <boost/asio/awaitable.hpp>

#include <functional>

namespace pawl::simulation {

class redlock_operator {
public:
    redlock_operator(scheduler& loop, node_choices nodes, redlock::options options,
                     const redlock_plan& scenario_plan, prng random, trace& log);

    using callback = std::function<void(bool has_succeeded)>;
    // One command at a time; it runs until it has succeeded or failed.
    void begin_set(bool forget, callback ended);
    [[nodiscard]] bool is_busy() const noexcept { return is_busy_; }
    [[nodiscard]] simulated_process& process() noexcept { return process_; }

private:
    struct no_losses final : loss_listener {
        void on_loss(std::string_view, loss_reason) override {}
        void on_possible_loss() override {}
    };
    boost::asio::awaitable<void> run(bool forget, callback ended);
    boost::asio::awaitable<bool> operate(bool forget);

    simulated_process process_;
    virtual_runtime time_;
    const node_choices nodes_;
    const redlock::options options_;
    const redlock_plan& plan_;
    trace& trace_;
    no_losses listener_;
    bool is_busy_ = false;
};

}  // namespace pawl::simulation
