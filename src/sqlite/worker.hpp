// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Runs a client's work on the file, so that no write to the disk stops the event loop.
#pragma once

#include "database.hpp"

#include "core/util/fork_mark.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace pawl::sqlite {

// Used on the client's strand. A client has a thread; the simulation decides when a job runs.
class worker {
public:
    worker() = default;
    virtual ~worker() = default;
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;

    // For the handlers of the file's notifier: they run between two jobs. Valid until `stop`.
    [[nodiscard]] virtual boost::asio::any_io_executor executor() = 0;
    [[nodiscard]] virtual bool is_stopped() const noexcept = 0;
    // Waits for the running job. Jobs that have not begun are dropped, and their callers never
    // continue. Does nothing in a fork.
    virtual void stop() noexcept = 0;

    // Runs the work after the work before it, and returns to the strand. Throws its error as
    // database_error. Cannot be cancelled: the caller must know the result.
    template <class Work>
    boost::asio::awaitable<std::invoke_result_t<Work&>> run(Work work) {
        using value_type = std::invoke_result_t<Work&>;
        if (is_stopped())
            throw database_error(errc::unavailable, "This client is closed; make a new one.",
                                 false);
        // In a fork, the thread exists only in the parent, so no job would ever finish.
        if (is_forked())
            throw database_error(errc::unsupported, core::forked_client_error().what(), false);
        starter<Work> start_work{this, std::move(work)};
        auto result = co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>,
                                                           void(job_result<value_type>)>(
            std::move(start_work), boost::asio::use_awaitable);
        if (!result.value)
            throw database_error(result.reason, result.sentence, result.is_transient);
        co_return std::move(*result.value);
    }

protected:
    // Work on the file, and the caller that waits for its result.
    class job {
    public:
        job() = default;
        virtual ~job() = default;
        job(const job&) = delete;
        job& operator=(const job&) = delete;

        // Away from the event loop.
        virtual void run() noexcept = 0;
        // On the strand, after `run`: the caller continues. If the job is destroyed instead, the
        // caller's coroutine is, too.
        virtual void complete() = 0;
    };

    virtual void start(std::unique_ptr<job> next) = 0;
    [[nodiscard]] bool is_forked() const noexcept { return made_in_.is_forked(); }

private:
    template <class T>
    struct job_result {
        std::optional<T> value;
        errc reason = errc::unavailable;
        std::string sentence;
        bool is_transient = false;
    };

    template <class Work, class Handler>
    class work_job final : public job {
    public:
        work_job(Work work, Handler handler)
            : work_(std::move(work)), handler_(std::move(handler)) {}

        // Exceptions stay on the thread that threw them; only their text is passed on.
        void run() noexcept override {
            try {
                run_and_catch();
            } catch (...) {
                result_ = {{}, errc::exhausted, {}, false};
            }
        }
        void complete() override {
            auto handler = std::move(handler_);
            std::move(handler)(std::move(result_));
        }

    private:
        void run_and_catch() {
            try {
                result_ = {work_(), {}, {}, false};
            } catch (const error& failed) {
                result_ = {{}, failed.reason(), failed.what(), failed.is_transient()};
            } catch (const std::bad_alloc&) {
                result_ = {{}, errc::exhausted, "This program is out of memory.", false};
            } catch (const std::exception& failed) {
                result_ = {{}, errc::unavailable, failed.what(), false};
            }
        }

        Work work_;
        Handler handler_;
        job_result<std::invoke_result_t<Work&>> result_;
    };

    template <class Work>
    struct starter {
        worker* self;
        Work work;

        template <class Handler>
        void operator()(Handler&& handler) {
            using made_job = work_job<Work, std::decay_t<Handler>>;
            self->start(
                std::make_unique<made_job>(std::move(work), std::forward<Handler>(handler)));
        }
    };

    const core::fork_mark made_in_;
};

// Makes the worker of a client. `stop` of the worker calls `on_stop` once, after the last job,
// except in a fork.
using worker_factory = std::function<std::unique_ptr<worker>(boost::asio::any_io_executor strand,
                                                             std::function<void()> on_stop)>;

// A thread. It is also stopped when the event loop of the strand is destroyed.
[[nodiscard]] std::unique_ptr<worker> start_worker_thread(boost::asio::any_io_executor strand,
                                                          std::function<void()> on_stop);

}  // namespace pawl::sqlite
