// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the schedulers on threads and for coroutines have in common.
#pragma once

#include <pawl/error.hpp>
#include <pawl/guard/schedule_watch.hpp>
#include <pawl/guard/scheduler_options.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace pawl::guard {

inline constexpr duration purge_interval = std::chrono::hours(1);
inline constexpr duration longest_look_pause = std::chrono::seconds(30);
// While the records fail.
inline constexpr duration first_failure_pause = std::chrono::seconds(1);
inline constexpr duration longest_failure_pause = std::chrono::seconds(16);
inline constexpr duration conflict_pause = std::chrono::milliseconds(50);
// How long the records may fail until a tick is given up, and the pauses of that.
inline constexpr duration record_patience = std::chrono::seconds(30);
inline constexpr duration first_record_pause = std::chrono::milliseconds(20);
inline constexpr duration longest_record_pause = std::chrono::seconds(2);

// One schedule, and when it needs a look.
template <class Work>
struct watched {
    schedule_watch watch;
    Work job;
    duration pause{};  // until the next look
    time_point next_look{};
    time_point next_purge{};
};

template <class Work>
using watch_list = std::vector<std::unique_ptr<watched<Work>>>;

template <class Work>
void add_schedule(watch_list<Work>& list, schedule_watch watch, Work job) {
    if (std::ranges::any_of(
            list, [&watch](const auto& each) { return each->watch.name() == watch.name(); }))
        throw error(errc::bad_name,
                    "There is a schedule '" + watch.name() + "' already; give each its own name.");
    list.push_back(std::make_unique<watched<Work>>(
        watched<Work>{.watch = std::move(watch), .job = std::move(job)}));
}

// With the name of this host, if there is none.
[[nodiscard]] scheduler_options with_host(scheduler_options options);

// In the records.
inline constexpr const char* busy_reason = "the lock was not free";
inline constexpr const char* died_reason = "its host died";

// What the work of a decision is given.
[[nodiscard]] running_tick running_tick_of(const schedule_watch::decision& decision,
                                           fencing_token token, std::stop_token lost);

// For the log.
[[nodiscard]] inline std::string text_of(const tick_claim& claim) {
    return "'" + claim.name + "' of " + claim.key;
}

}  // namespace pawl::guard
