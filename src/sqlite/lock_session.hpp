// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One client's side of the protocol: its waiters, and the operations that it still has to undo.
#pragma once

#include "store.hpp"
#include "worker.hpp"

#include "core/util/fork_mark.hpp"
#include "core/util/in_flight.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

namespace pawl::sqlite {

// Used on the client's strand. Outlives the backend while an operation is being undone.
class lock_session : public std::enable_shared_from_this<lock_session> {
public:
    lock_session(store::settings store_settings, backend_context context,
                 const worker_factory& make_worker);
    ~lock_session();
    lock_session(const lock_session&) = delete;
    lock_session& operator=(const lock_session&) = delete;

    // The caller's coroutine must not throw a cancellation at its co_awaits
    // (`throw_if_cancelled(false)`), because the undo of a cancelled acquire needs co_awaits, too.
    boost::asio::awaitable<std::optional<grant>> acquire(const claim& requested,
                                                         time_point give_up_at);
    boost::asio::awaitable<release_result> release(const claim& requested);
    boost::asio::awaitable<void> close(time_point give_up_at);

    // Called on the worker for a notification about a latch. It returns the work for the strand.
    // Must be set before the first job.
    std::function<std::function<void()>(store&, const std::string& name)> on_latch_notification;

    // Runs one job on the file.
    template <class Job>
    auto run(Job job) -> boost::asio::awaitable<std::invoke_result_t<Job&, store&>> {
        const core::in_flight::guard operation(operations_);
        const core::in_flight::guard unfinished_job(jobs_);
        ++context_.counts->requests;
        auto task = [file = file_.get(), job = std::move(job)]() mutable { return job(*file); };
        co_return co_await worker_->run(std::move(task));
    }

    // As `run`, for an operation that ends with this job. If it was cancelled, it fails with that:
    // a client that closes does not let jobs wait for the file.
    template <class Job>
    auto run_last(Job job) -> boost::asio::awaitable<std::invoke_result_t<Job&, store&>> {
        std::optional<error> failure;
        try {
            co_return co_await run(std::move(job));
        } catch (const error& failed) {
            failure = failed;
        }
        co_await throw_if_cancelled();
        throw error(*failure);
    }

    [[nodiscard]] bool is_forked() const noexcept { return made_in_.is_forked(); }
    void throw_if_forked() const { made_in_.throw_if_forked(); }

private:
    class acquire_attempt;

    static boost::asio::awaitable<void> throw_if_cancelled();
    boost::asio::awaitable<void> finish_jobs();
    void handle_notification(const notification& message);
    void post_effect(std::function<void()> effect);
    void report_loss(const std::string& owner);
    void notify_attempt(const std::string& owner, const std::optional<attempt_result>& granted);
    boost::asio::awaitable<std::optional<attempt_result>> leave(const claim& requested,
                                                                bool keep_grant);
    void undo_in_background(const claim& requested);
    static boost::asio::awaitable<void> retry_undo(std::shared_ptr<lock_session> self,
                                                   claim requested);

    backend_context context_;
    const core::fork_mark made_in_;
    std::unordered_map<std::string, acquire_attempt*>
        attempts_;                              // those that have not ended, by owner
    std::atomic<unsigned> posted_effects_ = 0;  // the notifications that wait for the event loop
    core::in_flight operations_;                // `close` waits for them
    core::in_flight jobs_;                      // of the operations: those that `run` has begun
    std::unique_ptr<store> file_;               // made after the worker, which closes it
    std::unique_ptr<worker> worker_;
};

}  // namespace pawl::sqlite
