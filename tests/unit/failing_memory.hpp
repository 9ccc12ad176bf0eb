// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Memory that fails when a test wants it to: operator new, and Asio's aligned_alloc.
#pragma once

namespace failing_memory {

// This thread gets no memory until the end of the scope.
class no_memory_in_thread {
public:
    no_memory_in_thread() noexcept;
    ~no_memory_in_thread();
    no_memory_in_thread(const no_memory_in_thread&) = delete;
    no_memory_in_thread& operator=(const no_memory_in_thread&) = delete;
};

// From now on, only one allocation of all threads fails, the one with this number: 0 is the next.
void fail_once_at(long number) noexcept;
// From now on none fails. True: the failing allocation was reached.
bool stop_failing() noexcept;

}  // namespace failing_memory
