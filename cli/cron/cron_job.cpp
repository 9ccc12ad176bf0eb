// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "cron_job.hpp"

#include "../run/supervisor.hpp"
#include "../ui/failure.hpp"
#include "record_store.hpp"

#include <algorithm>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;
using action = guard::schedule_watch::action;

// How long the records may be away until the tick is given up.
constexpr duration begin_limit = 15s;
constexpr duration end_limit = 60s;

// Records the beginning and the end of the command.
class job_hooks final : public tick_hooks {
public:
    job_hooks(const cron_line& line, const guard::schedule_watch::decision& decision,
              const service_location& location, bool verbose, job_progress& progress)
        : line_(line),
          decision_(decision),
          store_(location),
          verbose_(verbose),
          progress_(progress) {}

    bool may_begin(fencing_token token) override {
        reached_lock_ = true;
        if (!progress_.advance(job_stage::begun)) {
            if (decision_.next == action::run) withdraw();
            return false;
        }
        auto result = guard::begin_result::refused;
        try {
            persistently(store_, begin_limit, [&](guard::tick_records& records) {
                result = guard::begin_tick(records, decision_, token, line_.options.ttl);
            });
            if (result == guard::begin_result::crashed)
                say(tick_name(decision_.claim) + " has crashed on its host.");
        } catch (const std::exception& problem) {
            say("Cannot record the beginning of " + tick_name(decision_.claim) + ": " +
                problem.what());
        }
        store_.close();
        const bool begins = result == guard::begin_result::begun;
        if (begins && verbose_) say("Runs " + tick_name(decision_.claim) + ".");
        return begins;
    }

    void withdraw() override {
        call("give up", [this](guard::tick_records& records) {
            static_cast<void>(records.withdraw(decision_.claim));
        });
    }

    void end(int status, bool is_lock_lost) override {
        const std::string reason = is_lock_lost ? "the lock was lost" : "";
        if (verbose_ || status != 0)
            say("The exit status of " + tick_name(decision_.claim) + " is " +
                std::to_string(status) + ".");
        call("record the end of", [&](guard::tick_records& records) {
            if (!records.finish(decision_.claim, guard::tick_state::done, status, reason))
                say("The record of " + tick_name(decision_.claim) +
                    " belongs to another host by now.");
        });
    }

    // The supervisor has ended. Without the lock, perhaps because its service is away, the claim
    // stays until its lease is over, so that nobody tries again at once.
    void settle(bool is_lock_busy, bool is_interrupted) {
        if (reached_lock_ || decision_.next == action::recover) return;
        if (is_interrupted) return withdraw();
        if (!is_lock_busy) return;
        say("Skips " + tick_name(decision_.claim) + ", because another process kept the lock.");
        call("skip", [this](guard::tick_records& records) {
            static_cast<void>(
                records.skip(decision_.claim, "the lock was not free", decision_.claim.due, 0));
        });
    }

    [[nodiscard]] bool reached_lock() const noexcept override { return reached_lock_; }

private:
    void call(const char* verb, const std::function<void(guard::tick_records&)>& change) {
        try {
            persistently(store_, end_limit, change);
        } catch (const std::exception& problem) {
            say(std::string("Cannot ") + verb + " " + tick_name(decision_.claim) + ": " +
                problem.what());
        }
        store_.close();
    }

    const cron_line& line_;
    const guard::schedule_watch::decision& decision_;
    record_store store_;
    bool verbose_;
    job_progress& progress_;
    bool reached_lock_ = false;
};

}  // namespace

std::string tick_name(const guard::tick_claim& claim) {
    return "'" + claim.name + "' of " + claim.key;
}

run_options job_options(const cron_line& line, const guard::schedule_watch::decision& decision,
                        const std::string& lock_name) {
    run_options options;
    options.name = lock_name;
    options.command = {"/bin/sh", "-c", line.command};
    options.ttl = line.options.ttl;
    options.max_hold = line.options.max;
    options.label = line.name;
    options.quiet = true;
    options.variables = {"PAWL_TICK=" + decision.claim.key};
    return options;
}

job_result run_under_lock(run_options options, duration lock_wait, const service_location& location,
                          tick_hooks& hooks, const std::function<bool()>& is_open) {
    for (auto left = lock_wait; is_open(); left -= options.ttl) {
        options.wait = std::min(left, options.ttl);
        supervisor job(options, location, &hooks);
        const int status = job.run();
        const bool is_busy = status == options.busy_exit && !hooks.reached_lock();
        if (!is_busy || options.wait == left) return {.status = status, .is_busy = is_busy};
        job.reap_children();
    }
    return {};
}

int run_cron_job(const cron_line& line, const guard::schedule_watch::decision& decision,
                 const std::string& lock_name, const service_location& location, bool verbose,
                 job_progress& progress) noexcept {
    try {
        job_hooks hooks(line, decision, location, verbose, progress);
        const auto is_cancelled = [&] { return progress.get() == job_stage::cancelled; };
        const auto result =
            run_under_lock(job_options(line, decision, lock_name), decision.lock_wait, location,
                           hooks, [&] { return !is_cancelled(); });
        const bool is_interrupted = is_cancelled() || result.status > signal_status(0);
        hooks.settle(result.is_busy, is_interrupted);
        return result.status;
    } catch (...) {
        return report_current();
    }
}

}  // namespace pawl::cli
