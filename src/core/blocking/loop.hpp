// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The event loop of a client of the sync API. A caller that waits drives it, which saves two
// context switches for each round trip. The loop's own thread drives it when no caller waits.
#pragma once

#include "../util/fork_mark.hpp"

#include <boost/asio/config.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/intrusive/list.hpp>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace pawl::core {
class engine;
}

namespace pawl::blocking {

class loop : public std::enable_shared_from_this<loop> {
public:
    loop();
    ~loop();
    loop(const loop&) = delete;
    loop& operator=(const loop&) = delete;

    // One caller's wait for one result, which is set on the loop.
    class call : public boost::intrusive::list_base_hook<> {
    public:
        explicit call(loop& loop) : loop_(loop) {}
        // Runs `begin` on the loop, and returns after `complete` was called. If no other thread
        // drives the loop, `begin` runs at once. An exception of `begin` is only logged, so the
        // call must be completed then, too. Throws only if there is no memory to post `begin`,
        // which then does not run.
        template <class Begin>
        void run(Begin begin) {
            enter();
            if (!is_driving_)
                post(std::move(begin));
            else
                loop_.run_handler(begin);
            wait();
        }
        // On the loop.
        void complete() noexcept;

    private:
        friend class loop;
        template <class Begin>
        void post(Begin begin) {
            try {
                boost::asio::post(loop_.context_, std::move(begin));
            } catch (...) {
                leave();
                throw;
            }
        }
        void enter() noexcept;
        void drive() noexcept;
        void wait() noexcept;
        void leave() noexcept;

        loop& loop_;
        // Both are used by the thread that drives the loop, or under the loop's mutex.
        bool is_complete_ = false;
        bool is_driving_ = false;
        std::condition_variable wakeup_;
    };

    // Runs the handlers that are ready, without waiting. If another thread drives, they run before
    // the next call begins.
    void run_ready() noexcept;
    void stop();
    [[nodiscard]] bool is_stopped();

    [[nodiscard]] boost::asio::io_context& context() noexcept { return context_; }
    [[nodiscard]] bool is_forked() const noexcept { return made_in_.is_forked(); }
    // Throws errc::unsupported in a fork of the client's process.
    void throw_if_forked() const { made_in_.throw_if_forked(); }
    // Called once, before the first `call` is made.
    void set_engine(std::shared_ptr<core::engine> client_engine);
    std::shared_ptr<core::engine> engine;

private:
    // One thread at a time runs the loop. A read that gets fewer bytes than it has room for has
    // emptied the socket, so Asio need not try another one (see connection::check_end).
    static constexpr auto settings =
        "scheduler.concurrency_hint=1\n"
        "reactor.reset_edge_on_partial_read=1";

    void run_thread();
    void drive() noexcept;
    template <class Handler>
    void run_handler(Handler&& handler) noexcept {
        try {
            handler();
        } catch (...) {
            log_unhandled();
        }
    }
    void log_unhandled() noexcept;
    [[nodiscard]] bool is_renewal_near() const noexcept;
    void wake_next_driver();

    boost::asio::io_context context_{boost::asio::config_from_string(settings)};
    // Without this work guard, `run` would return at once, and waiting would be a busy loop.
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
        context_.get_executor()};
    std::mutex mutex_;
    bool is_driven_ = false;
    bool is_driven_by_thread_ = false;  // driven by the loop's own thread
    bool is_thread_parked_ = false;     // the thread waits until no caller is left
    bool is_stopped_ = false;
    bool must_poll_ = false;  // before the next call begins
    // `engine`, for the loop's thread, which may run before `set_engine`.
    std::atomic<const core::engine*> engine_ptr_ = nullptr;
    std::size_t callers_ = 0;  // the threads in `call::wait`
    // Grows with each `call::wait` and `run_ready`; it tells the loop's thread that a caller was
    // there.
    std::uint64_t activity_count_ = 0;
    boost::intrusive::list<call> waiting_calls_;
    std::condition_variable thread_wakeup_;
    const core::fork_mark made_in_;
    std::thread thread_;
};

}  // namespace pawl::blocking
