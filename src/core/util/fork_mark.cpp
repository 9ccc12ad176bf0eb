// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "fork_mark.hpp"

#include <pthread.h>

#include <atomic>

namespace pawl::core {
namespace {

std::atomic<std::uint32_t> fork_count{0};

const int counts_forks = [] {
    return ::pthread_atfork(nullptr, nullptr,
                            [] { fork_count.fetch_add(1, std::memory_order_relaxed); });
}();

}  // namespace

std::uint32_t fork_generation() noexcept { return fork_count.load(std::memory_order_relaxed); }

void fork_mark::throw_if_forked() const {
    if (is_forked()) throw forked_client_error();
}

error forked_client_error() {
    return {errc::unsupported,
            "This client belongs to the parent of this process; make a client after the fork."};
}

}  // namespace pawl::core
