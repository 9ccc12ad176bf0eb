// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One simulated program: an executor, which keeps work back while the program is paused, and a
// clock.
#pragma once

#include "process_resources.hpp"
#include "scheduler.hpp"

#include <pawl/types.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>

#include <deque>

namespace pawl::simulation {

class simulated_process {
public:
    class executor;

    // The clock shows `start` at first and runs `rate` times as fast as the scenario's time.
    simulated_process(scheduler& loop, time_point start, double rate);
    simulated_process(const simulated_process&) = delete;
    simulated_process& operator=(const simulated_process&) = delete;
    ~simulated_process();

    [[nodiscard]] time_point now() const noexcept;
    // The first instant at which this clock shows `when` or later.
    [[nodiscard]] instant instant_of(time_point when) const noexcept;

    [[nodiscard]] executor get_executor() noexcept;
    void post(task work) { loop_.post(*this, std::move(work)); }

    // SIGSTOP and SIGCONT. Work that becomes ready during the pause runs after the resumption, in
    // the same order.
    void pause() { paused_ = true; }
    void resume();
    [[nodiscard]] bool is_paused() const noexcept { return paused_; }
    [[nodiscard]] instant resumed_at() const noexcept { return resumed_at_; }

    [[nodiscard]] scheduler& loop() noexcept { return loop_; }
    // The resources that its code may run out of.
    [[nodiscard]] process_resources& resources() noexcept { return resources_; }
    [[nodiscard]] const process_resources& resources() const noexcept { return resources_; }
    // The sent requests that can create a hold. Each of them may have to be undone.
    [[nodiscard]] std::size_t hold_requests() const noexcept { return hold_requests_; }
    void count_hold_request() noexcept { ++hold_requests_; }

private:
    friend class scheduler;
    void run_task(task work);

    scheduler& loop_;
    process_resources resources_;
    std::size_t hold_requests_ = 0;
    boost::asio::execution_context context_;
    time_point start_;
    double rate_;
    bool paused_ = false;
    instant resumed_at_{};
    std::deque<task> backlog_;
};

class simulated_process::executor {
public:
    explicit executor(simulated_process& process) noexcept : process_(&process) {}

    template <class F>
    void execute(F&& work) const {
        const uncounted_allocations uncounted;
        process_->post(std::forward<F>(work));
    }
    boost::asio::execution_context& query(boost::asio::execution::context_t) const noexcept {
        return process_->context_;
    }
    static constexpr boost::asio::execution::blocking_t query(
        boost::asio::execution::blocking_t) noexcept {
        return boost::asio::execution::blocking.never;
    }
    bool operator==(const executor&) const noexcept = default;

private:
    simulated_process* process_;
};

inline simulated_process::executor simulated_process::get_executor() noexcept {
    return executor(*this);
}

}  // namespace pawl::simulation
