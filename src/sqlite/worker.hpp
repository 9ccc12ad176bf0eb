// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A thread for the file, so that no write to the disk stops the event loop.
#pragma once

#include "database.hpp"

#include "core/util/fork_mark.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace pawl::sqlite {

class worker {
public:
    // The result of a job, passed between the threads by value.
    template <class T>
    struct job_result {
        std::optional<T> value;
        errc reason = errc::unavailable;
        std::string sentence;
        bool is_transient = false;
    };

    // `stop` calls `on_stop` once, after the last job, except in a fork. Copies of `executor()` may
    // be used until `on_stop` returns.
    worker(boost::asio::any_io_executor strand, std::function<void()> on_stop);
    ~worker() { stop(); }
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;

    // The executor of the thread. Valid until `stop`.
    [[nodiscard]] boost::asio::any_io_executor executor() const { return pool_->get_executor(); }

    [[nodiscard]] bool is_stopped() const noexcept { return pool_ == nullptr; }

    // Runs the job on the thread, after the jobs before it, and returns to the strand. Throws the
    // job's error as database_error. Cannot be cancelled: the caller must know the job's result.
    template <class Job>
    boost::asio::awaitable<std::invoke_result_t<Job&>> run(Job job) {
        using value_type = std::invoke_result_t<Job&>;
        if (!pool_)
            throw database_error(errc::unavailable, "This client is closed; make a new one.",
                                 false);
        // In a fork, the thread exists only in the parent, so no job would ever finish.
        if (made_in_.is_forked())
            throw database_error(errc::unsupported, core::forked_client_error().what(), false);
        job_starter<Job, value_type> starter{*this, std::move(job)};
        auto result = co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>,
                                                           void(job_result<value_type>)>(
            std::move(starter), boost::asio::use_awaitable);
        if (!result.value)
            throw database_error(result.reason, result.sentence, result.is_transient);
        co_return std::move(*result.value);
    }

    // Waits for the running job. Jobs that have not begun are dropped, and their callers never
    // continue. Also called when the event loop of the strand is destroyed. Does nothing in a fork.
    void stop() noexcept;

private:
    class registry;
    class loop_service;

    template <class Job, class T>
    struct pending_job {
        Job job;
        boost::asio::any_completion_handler<void(job_result<T>)> completion;
        job_result<T> result;
    };

    template <class Job, class T>
    struct job_starter {
        worker& self;
        Job job;

        template <class Handler>
        void operator()(Handler&& handler) {
            const auto pending = std::make_shared<pending_job<Job, T>>(pending_job<Job, T>{
                std::move(job), std::forward<Handler>(handler), job_result<T>()});
            boost::asio::post(*self.pool_, [this_worker = &self, pending,
                                            alive = boost::asio::make_work_guard(self.strand_)] {
                pending->result = run_job<Job, T>(pending->job);
                const bool is_posted = this_worker->post_to_strand(
                    [pending] { std::move(pending->completion)(std::move(pending->result)); });
                if (!is_posted) this_worker->undelivered_ = pending;
            });
        }
    };

    // On the thread. The job's completion has the caller's coroutine, which this thread must not
    // destroy. So while there is no memory for the post, it waits for some. False: `stop` came.
    template <class Function>
    [[nodiscard]] bool post_to_strand(const Function& completion) noexcept {
        while (!is_stopping_) {
            try {
                boost::asio::post(strand_, Function(completion));
                return true;
            } catch (const std::bad_alloc&) {
                pause();
            }
        }
        return false;
    }
    static void pause() noexcept;

    // No exception may leave the thread: it would end the process. Exceptions stay on the thread
    // that threw them; only their text is passed on.
    template <class Job, class T>
    static job_result<T> run_job(Job& job) noexcept {
        try {
            return run_and_catch<Job, T>(job);
        } catch (...) {
            return {{}, errc::exhausted, {}, false};
        }
    }
    template <class Job, class T>
    static job_result<T> run_and_catch(Job& job) {
        try {
            return {job(), {}, {}, false};
        } catch (const error& failed) {
            return {{}, failed.reason(), failed.what(), failed.is_transient()};
        } catch (const std::bad_alloc&) {
            return {{}, errc::exhausted, "This program is out of memory.", false};
        } catch (const std::exception& failed) {
            return {{}, errc::unavailable, failed.what(), false};
        }
    }

    boost::asio::any_io_executor strand_;
    std::atomic<bool> is_stopping_ = false;
    std::shared_ptr<void> undelivered_;  // a finished job, which `stop` destroys
    std::unique_ptr<boost::asio::thread_pool> pool_;
    std::shared_ptr<registry> registry_;
    std::function<void()> on_stop_;
    const core::fork_mark made_in_;
};

}  // namespace pawl::sqlite
