// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "async_jobs.hpp"

#include "../async_pause.hpp"

#include <pawl/with_diagnostics.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace pawl::guard {

namespace asio = boost::asio;
using watch_action = schedule_watch::action;

void async_jobs::attach(const asio::any_io_executor& executor) {
    executor_ = executor;
    wakeup_ = spi::real_runtime().make_timer(executor);
}

void async_jobs::stop() {
    is_stopping_ = true;
    for (const auto& job : jobs_)
        job->cancel.emit(asio::cancellation_type::terminal);
    wake();
}

void async_jobs::log(const std::string& line) const {
    if (options_.log) options_.log(line);
}

void async_jobs::wake() {
    is_woken_ = true;
    wakeup_->cancel();
}

asio::awaitable<void> async_jobs::wait(duration longest) {
    if (options_.pause) {
        options_.pause(longest);
        co_await asio::post(executor_, asio::use_awaitable);
    } else if (!is_woken_) {
        co_await wait_until(*wakeup_, spi::real_runtime().now() + longest);
    }
    is_woken_ = false;
}

asio::awaitable<void> async_jobs::record_skips(const schedule_watch::plan& plan) {
    for (const auto& each : plan.skips)
        (void)co_await records_.skip(each.claim, each.reason, each.settled, each.missed);
}

asio::awaitable<schedule_watch::decision> async_jobs::advance(schedule_watch& watch) {
    const auto turn = co_await turns_.enter();
    const auto state = co_await records_.look(watch.name());
    const auto wanted = watch.plan_after_look(state);
    co_await record_skips(wanted);
    if (!wanted.claim) co_return wanted.next;
    const auto answer =
        co_await records_.claim(*wanted.claim, wanted.not_before, watch.options().ttl);
    const auto result = watch.plan_after_claim(*wanted.claim, answer, state.now);
    co_await record_skips(result);
    co_return result.next;
}

asio::awaitable<void> async_jobs::purge(const std::string& name, duration keep) {
    const auto turn = co_await turns_.enter();
    co_await records_.purge(name, keep);
}

void async_jobs::start(async_watched_schedule& schedule, const schedule_watch::decision& decision) {
    const auto job = std::make_shared<running_job>(schedule, decision);
    jobs_.push_back(job);
    try {
        asio::co_spawn(executor_, run(shared_from_this(), job), asio::detached);
    } catch (...) {
        jobs_.pop_back();
        throw;
    }
}

asio::awaitable<duration> async_jobs::renew() {
    const auto now = spi::real_runtime().now();
    duration pause = forever;
    std::string failure;
    const auto jobs = jobs_;
    try {
        for (const auto& job : jobs) {
            const duration ttl = job->schedule.watch.options().ttl;
            if (job->next_renewal <= now) {
                job->next_renewal = now + ttl / 3;
                const auto turn = co_await turns_.enter();
                co_await records_.renew(job->decision.claim, ttl);
            }
            pause = std::min(pause, job->next_renewal - now);
        }
    } catch (const std::exception& problem) {
        failure = problem.what();
    }
    if (!failure.empty()) log("A sign of life cannot be recorded: " + failure);
    co_return std::min(pause, longest_look_pause);
}

asio::awaitable<void> async_jobs::run(std::shared_ptr<async_jobs> self, job_pointer job) {
    std::string failure;
    try {
        co_await self->try_to_run(*job);
    } catch (const std::exception& problem) {
        failure = problem.what();
    }
    if (!failure.empty()) {
        // The claim stays until its lease is over, so that nobody tries again at once.
        self->log(text_of(job->decision.claim) + " did not begin here: " + failure);
        if (self->is_stopping_) co_await self->withdraw(*job);
    }
    self->jobs_.remove(job);
    self->ended_.insert(job->decision.claim.name);
    self->wake();
}

asio::awaitable<void> async_jobs::try_to_run(running_job& job) {
    held_lock held = co_await acquire(job);
    if (!held) {
        co_await settle_busy(job);
        co_return;
    }
    const bool begins = co_await begin(job, held.token());
    if (begins) co_await work(job, held);
    (void)co_await held.async_release();
}

// As scheduler_jobs::acquire.
asio::awaitable<held_lock> async_jobs::acquire(running_job& job) {
    const auto& options = job.schedule.watch.options();
    const auto name = job.schedule.watch.lock_name(job.decision.claim);
    const lock_options acquire_options{.ttl = options.ttl, .max_hold = options.max};
    for (auto left = job.decision.lock_wait;; left -= options.ttl) {
        if (is_stopping_) throw error(errc::cancelled, "The scheduler stops.");
        const auto part = std::min<duration>(left, options.ttl);
        held_lock held = co_await locks_.async_try_acquire_for(
            name, part, acquire_options,
            with_diagnostics(asio::bind_cancellation_slot(job.cancel.slot(), asio::deferred)));
        if (held || part == left) co_return held;
    }
}

asio::awaitable<bool> async_jobs::begin(const running_job& job, fencing_token token) {
    const record_change change = [&] { return begin_in_records(job, token); };
    const auto result = co_await persistently(change);
    co_return result.value_or(false);
}

// As begin_tick.
asio::awaitable<bool> async_jobs::begin_in_records(const running_job& job, fencing_token token) {
    const auto& decided = job.decision;
    const duration ttl = job.schedule.watch.options().ttl;
    bool has_begun = false;
    if (decided.next == watch_action::run) {
        has_begun = co_await records_.begin(decided.claim, token, decided.latest, ttl);
    } else if (decided.may_repeat) {
        has_begun = co_await records_.begin_again(decided.claim, decided.crashed, token, ttl);
    } else {
        auto crashed = decided.claim;
        crashed.claim = decided.crashed;
        const std::string reason = died_reason;
        const bool is_recorded = co_await records_.finish(crashed, tick_state::crashed, 0, reason);
        if (is_recorded) log(text_of(decided.claim) + " has crashed on its host");
    }
    co_return has_begun;
}

asio::awaitable<void> async_jobs::work(const running_job& job, const held_lock& held) {
    const auto& decision = job.decision;
    const running_tick running = running_tick_of(decision, held.token(), held.lost());
    int status = 1;
    std::string reason;
    try {
        status = co_await job.schedule.job(running);
    } catch (const std::exception& problem) {
        reason = problem.what();
    } catch (...) {
        reason = "an exception of an unknown type";
    }
    if (running.lost.stop_requested()) reason = "the lock was lost";
    const record_change change = [&] {
        return records_.finish(decision.claim, tick_state::done, status, reason);
    };
    const auto is_recorded = co_await persistently(change);
    if (!is_recorded)
        log("The end of " + text_of(decision.claim) + " is not recorded");
    else if (!*is_recorded)
        log("The record of " + text_of(decision.claim) + " belongs to another host by now");
}

asio::awaitable<void> async_jobs::settle_busy(const running_job& job) {
    const auto& claim = job.decision.claim;
    if (job.decision.next == watch_action::recover) co_return;
    log(text_of(claim) + " is skipped, because another owner kept the lock");
    const std::string reason = busy_reason;
    const record_change change = [&] { return records_.skip(claim, reason, claim.due, 0); };
    (void)co_await persistently(change);
}

asio::awaitable<void> async_jobs::withdraw(const running_job& job) {
    if (job.decision.next == watch_action::recover) co_return;
    const record_change change = [&] { return records_.withdraw(job.decision.claim); };
    (void)co_await persistently(change);
}

// Repeats the change while the records fail, for a while. Empty: in vain.
asio::awaitable<std::optional<bool>> async_jobs::persistently(const record_change& change) {
    const auto until = spi::real_runtime().now() + record_patience;
    for (auto pause = first_record_pause;; pause = std::min(pause * 2, longest_record_pause)) {
        std::string failure;
        try {
            const auto turn = co_await turns_.enter();
            const bool answer = co_await change();
            co_return answer;
        } catch (const std::exception& problem) {
            failure = problem.what();
        }
        if (spi::real_runtime().now() + pause > until) {
            log("The records cannot be used: " + failure);
            co_return std::nullopt;
        }
        co_await async_pause(spi::real_runtime(), pause);
    }
}

}  // namespace pawl::guard
