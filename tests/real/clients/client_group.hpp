// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The client processes of a run, some of which are killed or paused now and then.
#pragma once

#include "client_process.hpp"
#include "process_figures.hpp"

#include <real/servers/environment.hpp>

#include <conformance/process.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace real {

struct group_options {
    std::size_t processes = 4;
    std::size_t lasting = 0;  // so many of them are paused, but never killed
    std::uint64_t seed = 0;
};

class client_group {
public:
    // The environment must outlive the group.
    client_group(const environment& servers, client_options common, const group_options& group);

    // Called often: kills, stops or resumes a process if it is time.
    void disturb();
    // Resumes all, and waits until they have released their holds and are ready to record in the
    // other folder. Returns what is wrong, as `finish` does; the group is then of no more use.
    [[nodiscard]] std::string end_round(const std::string& next_folder);
    // After `end_round`.
    void begin_round();
    // Resumes all, and waits until they have released their holds and ended. Returns what is wrong,
    // as a sentence; empty: nothing.
    [[nodiscard]] std::string finish();

    // Of the processes that are never killed, in the same order each time.
    [[nodiscard]] std::vector<process_figures> lasting_figures() const;
    [[nodiscard]] std::size_t started() const noexcept { return started_; }
    [[nodiscard]] std::size_t kills() const noexcept { return kills_; }
    [[nodiscard]] std::size_t pauses() const noexcept { return pauses_; }

private:
    using clock = std::chrono::steady_clock;
    struct member {
        pawl::conformance::child process;
        std::size_t number = 0;  // of the process
        std::optional<clock::time_point> resume_at;
    };

    [[nodiscard]] member start(std::size_t index);
    void stop(member& victim);
    [[nodiscard]] bool is_resource_busy() const;
    [[nodiscard]] bool has_journal(std::size_t number) const;
    [[nodiscard]] std::string text_of_end(int status) const;

    const environment& servers_;
    client_options common_;
    const std::size_t lasting_;
    std::minstd_rand dice_;
    std::vector<member> members_;
    clock::time_point next_fault_;
    std::size_t started_ = 0;
    std::size_t kills_ = 0;
    std::size_t pauses_ = 0;
};

}  // namespace real
