// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The client processes of a run, some of which are killed or paused now and then.
#pragma once

#include "client_process.hpp"
#include "environment.hpp"

#include <conformance/process.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace proofs {

class client_group {
public:
    // The environment must outlive the group.
    client_group(const environment& servers, client_options common, std::size_t processes,
                 std::uint64_t seed);

    // Called often: kills, stops or resumes a process if it is time.
    void disturb();
    // Resumes all, and waits until they have released their holds and ended. Returns what is wrong,
    // as a sentence; empty: nothing.
    [[nodiscard]] std::string finish();

    [[nodiscard]] std::size_t started() const noexcept { return started_; }
    [[nodiscard]] std::size_t kills() const noexcept { return kills_; }
    [[nodiscard]] std::size_t pauses() const noexcept { return pauses_; }

private:
    using clock = std::chrono::steady_clock;
    struct member {
        pawl::conformance::child process;
        std::optional<clock::time_point> resume_at;
    };

    [[nodiscard]] pawl::conformance::child start(std::size_t index);
    void stop(member& victim);
    [[nodiscard]] bool is_resource_busy() const;

    const environment& servers_;
    client_options common_;
    std::minstd_rand dice_;
    std::vector<member> members_;
    clock::time_point next_fault_;
    std::size_t started_ = 0;
    std::size_t kills_ = 0;
    std::size_t pauses_ = 0;
};

}  // namespace proofs
