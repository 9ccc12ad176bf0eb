// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "simulated_process.hpp"

#include <cmath>

namespace pawl::simulation {

simulated_process::simulated_process(scheduler& loop, time_point start, double rate)
    : loop_(loop),
      resources_(prng(static_cast<std::uint64_t>(start.time_since_epoch().count()))),
      start_(start),
      rate_(rate) {}

simulated_process::~simulated_process() = default;

time_point simulated_process::now() const noexcept {
    const auto reading = std::floor(static_cast<double>(loop_.now().count()) * rate_);
    return start_ + duration(static_cast<duration::rep>(reading));
}

instant simulated_process::instant_of(time_point when) const noexcept {
    // No scenario lasts a century. The limit keeps the arithmetic exact enough, and `when - start_`
    // from an overflow: after a reboot, the clock may have started before its zero.
    constexpr duration century(static_cast<duration::rep>(3e18));
    if (when > start_ + century) return instant(century);
    const auto target = static_cast<double>((when - start_).count());
    auto candidate = static_cast<instant::rep>(std::ceil(target / rate_));
    while (std::floor(static_cast<double>(candidate) * rate_) < target)
        ++candidate;
    return instant(candidate);
}

void simulated_process::resume() {
    paused_ = false;
    resumed_at_ = loop_.now();
    for (auto& waiting : backlog_)
        loop_.post(*this, std::move(waiting));
    backlog_.clear();
}

void simulated_process::run_task(task work) {
    if (paused_) {
        backlog_.push_back(std::move(work));
        return;
    }
    const allocation_scope the_program(&resources_.memory());
    try {
        work();
    } catch (const std::bad_alloc&) {
        // Like an event loop that continues: only this handler ends.
    }
}

}  // namespace pawl::simulation
