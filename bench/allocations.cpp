// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The program's operator new, which counts the allocations of each thread.
#include "allocations.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local std::uint64_t allocations = 0;

}  // namespace

std::uint64_t bench::allocations_of_this_thread() noexcept { return allocations; }

void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
