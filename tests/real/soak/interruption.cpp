// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "interruption.hpp"

#include <csignal>
#include <ctime>
#include <iostream>

namespace real::soak {

namespace {

sigset_t ending_signals() {
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGINT);
    ::sigaddset(&signals, SIGTERM);
    return signals;
}

}  // namespace

interruption::interruption() {
    const auto signals = ending_signals();
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

int interruption::count() {
    const auto signals = ending_signals();
    const std::timespec at_once{};
    while (::sigtimedwait(&signals, nullptr, &at_once) > 0)
        if (++count_ == 1)
            std::cout << "The soak ends after the present fault. A second signal ends it at once, "
                         "without a check of this round."
                      << std::endl;
    return count_;
}

}  // namespace real::soak
