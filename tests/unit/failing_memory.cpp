// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "failing_memory.hpp"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

thread_local bool none = false;

constexpr long no_failure = std::numeric_limits<long>::max() / 2;
std::atomic<long> remaining = no_failure;

bool must_fail() noexcept { return none || remaining.fetch_sub(1, std::memory_order_relaxed) == 0; }

void* allocate(std::size_t size) {
    if (must_fail()) throw std::bad_alloc();
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    try {
        return allocate(size);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    void* memory = nullptr;
    if (must_fail() || ::posix_memalign(&memory, alignment, size) != 0) return nullptr;
    return memory;
}

namespace failing_memory {

no_memory_in_thread::no_memory_in_thread() noexcept { none = true; }
no_memory_in_thread::~no_memory_in_thread() { none = false; }

void fail_once_at(long number) noexcept { remaining = number; }
bool stop_failing() noexcept { return remaining.exchange(no_failure) < 0; }

}  // namespace failing_memory
