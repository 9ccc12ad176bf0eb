// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One call of `once`, step by step: the library's protocol and statements, and the simulation's
// crashes, pauses and lost answers between any two of them.
#pragma once

#if PAWL_WITH_SQLITE

#include "simulated_operation.hpp"
#include "simulated_store.hpp"

#include <guard/once_machine.hpp>

namespace guard_tests {

namespace guard = pawl::guard;

class simulated_caller {
public:
    simulated_caller(simulated_store& store, simulated_runtime& draws,
                     simulated_operation& operation, const guard::once_options& options,
                     bool is_other_request, std::int64_t& attempt_counter);

    // True: the call has ended, or its process has died.
    bool step();
    // When the next step is due, in ms.
    [[nodiscard]] std::int64_t due() const noexcept { return due_; }

private:
    using step_kind = guard::once_machine::step;
    enum class work_phase { begun, effect_outside, finish };

    guard::rows run(const guard::statement& to_run) { return store_.view().execute(to_run); }
    bool claim();
    void on_claimed(std::int64_t token);
    bool work();
    void write_outside();
    bool finish();
    bool finish_inside(const guard::statement& last);
    void give_up(std::int64_t pause_ms);
    bool end();
    void pause(std::int64_t ms) { due_ = simulated_ms + ms; }
    [[nodiscard]] bool is_late() const noexcept { return generation_ != operation_.generation; }
    [[nodiscard]] std::string result() const {
        return operation_name_ + " by " + std::to_string(attempt_);
    }

    simulated_store& store_;
    simulated_runtime& draws_;
    simulated_operation& operation_;
    const guard::once_options options_;
    const bool is_other_request_;
    std::int64_t& attempt_counter_;
    const int generation_;
    const std::string operation_name_;
    guard::once_statements record_;
    guard::once_machine machine_;
    work_phase phase_ = work_phase::begun;
    std::int64_t attempt_ = 0, token_ = 0, due_ = 0;
};

}  // namespace guard_tests

#endif
