// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Locks within one process.
#include <pawl/blocking.hpp>
#include <pawl/memory.hpp>

int main() {
    pawl::blocking::client locks(pawl::memory::at());
    const auto held = locks.acquire("it");
    return held.token() ? 0 : 1;
}
