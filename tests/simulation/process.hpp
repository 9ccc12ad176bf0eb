// One simulated program: an executor whose work waits while the program is paused, and a clock of
// its own.
#pragma once

#include "scheduler.hpp"
#include "shortage.hpp"

#include <pawl/types.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>

#include <deque>

namespace pawl::simulation {

class process {
public:
    class executor;

    // The clock shows `start` when the world begins, and goes `rate` times as fast as the world.
    process(scheduler& world, time_point start, double rate);
    process(const process&) = delete;
    process& operator=(const process&) = delete;
    ~process();

    [[nodiscard]] time_point now() const noexcept;
    // The first instant of the world at which this clock shows `when`, or later.
    [[nodiscard]] instant instant_of(time_point when) const noexcept;

    [[nodiscard]] executor get_executor() noexcept;
    void post(task what) { world_.post(*this, std::move(what)); }

    // SIGSTOP and SIGCONT: work that becomes ready in between runs after the resumption, in its
    // order.
    void pause() { paused_ = true; }
    void resume();
    [[nodiscard]] bool paused() const noexcept { return paused_; }
    [[nodiscard]] instant resumed_at() const noexcept { return resumed_at_; }

    [[nodiscard]] scheduler& world() noexcept { return world_; }
    // What its code may run out of.
    [[nodiscard]] resources& has() noexcept { return has_; }
    [[nodiscard]] const resources& has() const noexcept { return has_; }
    // Requests that can make a hold, as its clients sent them: each may have to be undone.
    [[nodiscard]] std::size_t hold_requests() const noexcept { return hold_requests_; }
    void count_hold_request() noexcept { ++hold_requests_; }

private:
    friend class scheduler;
    void run(task what);

    scheduler& world_;
    resources has_;
    std::size_t hold_requests_ = 0;
    boost::asio::execution_context context_;
    time_point start_;
    double rate_;
    bool paused_ = false;
    instant resumed_at_{};
    std::deque<task> backlog_;
};

class process::executor {
public:
    explicit executor(process& on) noexcept : on_(&on) {}

    template <class F>
    void execute(F&& what) const {
        const own_bookkeeping uncounted;
        on_->post(std::forward<F>(what));
    }
    boost::asio::execution_context& query(boost::asio::execution::context_t) const noexcept {
        return on_->context_;
    }
    static constexpr boost::asio::execution::blocking_t query(
        boost::asio::execution::blocking_t) noexcept {
        return boost::asio::execution::blocking.never;
    }
    bool operator==(const executor&) const noexcept = default;

private:
    process* on_;
};

inline process::executor process::get_executor() noexcept { return executor(*this); }

}  // namespace pawl::simulation
