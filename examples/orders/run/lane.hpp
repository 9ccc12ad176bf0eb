// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Some worker processes that serve one order after the other, and their deaths and stops.
#pragma once

#include "stories.hpp"
#include "worker.hpp"

#include <support/process.hpp>

#include <functional>
#include <string>
#include <vector>

namespace shop {

// A worker, and what it has written.
class worker_process {
public:
    explicit worker_process(const worker_options& options);
    void send(const std::string& command);
    // Reads what has come. Returns its next line; "died" when it has ended; empty: not yet.
    std::string receive();
    [[nodiscard]] int output() const noexcept { return process_.output(); }

    bool is_busy = false;
    bool is_stopped = false;
    // Returns once it is stopped, or has ended.
    void wait_stopped();
    void resume();

private:
    support::child process_;
    std::string text_;
};

struct lane_counts {
    int died = 0, stopped = 0;
    std::vector<std::string> failures;  // what customers were told
};

// For one thread: the processes end with the thread that has started them.
class lane {
public:
    // `on_stop` is called while a worker is stopped.
    lane(worker_options options, int workers, std::function<void(const visit&)> on_stop);
    // Serves one order. A worker that dies is followed by a new one; a stopped worker goes on when
    // the others have ended. True: a caller was told that it is done.
    bool play(const visit& played);
    // Another command, by the first worker.
    std::string ask(const std::string& command);
    [[nodiscard]] const lane_counts& counts() const noexcept { return counts_; }

private:
    void begin(const visit& played);
    bool on_line(worker_process& from, const std::string& line, const visit& played);
    void resume_if_last();
    // Reads until one of the workers has written; returns its line, and sets `from`.
    std::string next_line(worker_process*& from);

    worker_options options_;
    std::function<void(const visit&)> on_stop_;
    std::vector<worker_process> workers_;
    std::size_t begun_ = 0;  // of the visit
    lane_counts counts_;
};

}  // namespace shop
