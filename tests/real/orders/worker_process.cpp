// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "worker_process.hpp"

#include <sstream>
#include <stdexcept>

namespace real::orders {

namespace {

using namespace std::chrono_literals;

pawl::conformance::launch_options launch_of(const worker_options& options,
                                            const support::moved_clock* clocks) {
    auto launch = pawl::conformance::launch_as_helper(worker_words(options));
    if (clocks != nullptr) launch.environment = clocks->environment();
    return launch;
}

call_answer answer_of(const std::string& line) {
    call_answer answer;
    std::istringstream words(line);
    words >> answer.state >> answer.vain.polls >> answer.vain.refused;
    std::getline(words >> std::ws, answer.value);
    return answer;
}

}  // namespace

worker_process::worker_process(const worker_options& options, const support::moved_clock* clocks)
    : process_(launch_of(options, clocks)) {}

void worker_process::begin(const order_call& next) {
    call_ = next;
    std::string line = order_name(next.order);
    if (next.fault)
        line += " " + std::to_string(next.fault->index) + " " + std::to_string(next.fault->step);
    process_.send(line);
}

void worker_process::begin_repair() {
    repairs_ = true;
    process_.send("repair");
}

worker_process::news worker_process::look() {
    const auto line = process_.read_line(0ms);
    if (!line) return {};
    if (*line == "ready") {
        is_ready_ = true;
        return {.is_any = true};
    }
    if (*line == "hit") return {.is_any = true, .is_hit = true};
    call_.reset();
    repairs_ = false;
    return {.is_any = true, .answer = answer_of(*line)};
}

void worker_process::stop() {
    process_.stop();
    is_stopped_ = true;
}

void worker_process::resume() {
    process_.resume();
    is_stopped_ = false;
}

void worker_process::end() {
    process_.close_input();
    if (!process_.wait(60s)) throw std::runtime_error("a worker does not end");
}

}  // namespace real::orders
