// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "pause.hpp"

#include <pawl/error.hpp>

#include <condition_variable>
#include <mutex>

namespace pawl::guard {

void pause_until_stop(duration time, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    stopped.wait_for(lock, stop, time, [] { return false; });
}

void pause_for(duration time, const std::stop_token& cancel) {
    pause_until_stop(time, cancel);
    if (cancel.stop_requested())
        throw error(errc::cancelled, "The wait for the operation was cancelled.");
}

}  // namespace pawl::guard
