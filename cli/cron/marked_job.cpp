// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "marked_job.hpp"

#include "../ui/failure.hpp"
#include "../ui/messages.hpp"
#include "tick_mark.hpp"

#include <algorithm>

namespace pawl::cli {

namespace {

// The lock excludes other hosts between its grant and the mark. A host that dies in between leaves
// neither: the lock ends with its lease.
class mark_hooks final : public tick_hooks {
public:
    mark_hooks(const guard::tick_claim& claim, const tick_mark& mark, job_progress& progress,
               bool verbose)
        : claim_(claim), mark_(mark), progress_(progress), verbose_(verbose) {}

    bool may_begin(fencing_token /*token*/) override {
        reached_lock_ = true;
        if (!progress_.advance(job_stage::begun)) return false;
        const auto answer = mark_.make();
        if (answer == tick_mark::state::present) progress_.set(job_stage::settled);
        if (answer == tick_mark::state::unknown) progress_.set(job_stage::waiting);
        if (answer != tick_mark::state::made) return false;
        if (verbose_) say("Runs " + tick_name(claim_) + ".");
        return true;
    }
    void withdraw() override {
        mark_.remove();
        progress_.set(job_stage::waiting);
    }
    void end(int status, bool is_lock_lost) override {
        if (!verbose_ && status == 0) return;
        say("The exit status of " + tick_name(claim_) + " is " + std::to_string(status) +
            (is_lock_lost ? ", because the lock was lost." : "."));
    }
    [[nodiscard]] bool reached_lock() const noexcept override { return reached_lock_; }

private:
    const guard::tick_claim& claim_;
    const tick_mark& mark_;
    job_progress& progress_;
    bool verbose_;
    bool reached_lock_ = false;
};

// With overlap=skip, a tick waits for one lease: by then the holder of the lock has made the mark,
// or its lock has ended, or it runs an earlier tick.
duration lock_wait(const cron_line& line, const guard::schedule_watch::decision& decision) {
    const bool skips = line.options.overlap == guard::overlap_policy::skip;
    return skips ? std::min<duration>(decision.lock_wait, line.options.ttl) : decision.lock_wait;
}

// The mark has the name NAME@TICK, so the work has another lock.
std::string lock_name(const cron_line& line, const std::string& mark) {
    return line.options.overlap == guard::overlap_policy::allow ? mark + "@work" : line.name;
}

void skip(const guard::tick_claim& claim, const tick_mark& mark, job_progress& progress) {
    if (!progress.advance(job_stage::settled)) return;
    const auto answer = mark.make();
    if (answer == tick_mark::state::unknown) progress.set(job_stage::waiting);
    if (answer == tick_mark::state::made)
        say("Skips " + tick_name(claim) + ", because another process kept the lock.");
}

}  // namespace

int run_marked_job(const cron_line& line, const guard::schedule_watch::decision& decision,
                   const service_location& location, bool verbose,
                   job_progress& progress) noexcept {
    try {
        sigset_t signals;
        ::sigprocmask(SIG_SETMASK, nullptr, &signals);
        const auto& claim = decision.claim;
        const auto mark_name = claim.name + "@" + claim.key;
        const tick_mark mark(location, signals, mark_name, mark_length(line.options));
        mark_hooks hooks(claim, mark, progress, verbose);
        // Whether it is still open. Another host that has the lock may have made the mark.
        const auto is_open = [&] {
            const auto answer = mark.look();
            if (answer == tick_mark::state::present) progress.set(job_stage::settled);
            return answer == tick_mark::state::absent && progress.get() == job_stage::waiting;
        };
        const auto options = job_options(line, decision, lock_name(line, mark_name));
        const auto result =
            run_under_lock(options, lock_wait(line, decision), location, hooks, is_open);
        if (result.is_busy) skip(claim, mark, progress);
        return result.status;
    } catch (...) {
        return report_current();
    }
}

}  // namespace pawl::cli
