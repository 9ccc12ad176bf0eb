// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "start_thread.hpp"

#include "exhausted.hpp"

#include <pthread.h>
#include <signal.h>

#include <system_error>

namespace pawl::core {
namespace {

// Signals are handled by the program's own threads.
class signals_blocked {
public:
    signals_blocked() noexcept {
        sigset_t all{};
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &previous_mask_);
    }
    ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &previous_mask_, nullptr); }
    signals_blocked(const signals_blocked&) = delete;
    signals_blocked& operator=(const signals_blocked&) = delete;

private:
    sigset_t previous_mask_{};
};

}  // namespace

std::thread start_thread(const char* purpose, std::function<void()> work) {
    const signals_blocked blocked;
    try {
        return std::thread(std::move(work));
    } catch (const std::system_error& failure) {
        throw exhausted(std::string("No thread can be started for ") + purpose, failure.what());
    }
}

}  // namespace pawl::core
