// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The worker processes of a run, and what each of them does. A killed worker is replaced.
#pragma once

#include "call_queue.hpp"
#include "worker.hpp"

#include <support/moved_clock.hpp>

#include <conformance/process.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace real::orders {

struct call_answer {
    std::string state;
    vain_work vain;
    std::string value;
};

// Not thread-safe.
class worker_process {
public:
    // `clocks` may be null: the system's.
    worker_process(const worker_options& options, const support::moved_clock* clocks);

    [[nodiscard]] bool is_idle() const noexcept { return is_ready_ && !call_ && !repairs_; }
    [[nodiscard]] const std::optional<order_call>& call() const noexcept { return call_; }
    [[nodiscard]] bool is_alive() { return process_.is_running(); }

    void begin(const order_call& next);
    void begin_repair();
    // What the process has said since the last look. An answer ends the call.
    struct news {
        bool is_any = false;
        bool is_hit = false;  // the planned fault happens now
        std::optional<call_answer> answer{};
    };
    [[nodiscard]] news look();

    void kill() { process_.kill_and_reap(); }
    void stop();
    void resume();
    [[nodiscard]] bool is_stopped() const noexcept { return is_stopped_; }
    // Ends the wait of a fault.
    void go_on() { process_.send("go"); }
    // The process is idle, and ends. Throws std::runtime_error if it does not.
    void end();

private:
    pawl::conformance::child process_;
    std::optional<order_call> call_;
    bool repairs_ = false;
    bool is_ready_ = false;
    bool is_stopped_ = false;
};

}  // namespace real::orders
