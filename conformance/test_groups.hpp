// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The groups of `all_test_cases`, and the capabilities that a test requires.
#pragma once

#include "test_support.hpp"

#include <span>

namespace pawl::conformance {

inline bool every_backend(const capabilities&) { return true; }
inline bool with_processes(const capabilities& supported) { return supported.across_processes; }
inline bool with_named_holders(const capabilities& supported) { return supported.names_holders; }
inline bool with_pushed_loss(const capabilities& supported) { return supported.loss_is_pushed; }
inline bool with_fencing(const capabilities& supported) { return supported.fencing; }
inline bool with_fencing_and_processes(const capabilities& supported) {
    return supported.fencing && supported.across_processes;
}

std::span<const test_case> exclusion_tests() noexcept;
std::span<const test_case> waiting_tests() noexcept;
std::span<const test_case> cancelling_tests() noexcept;
std::span<const test_case> lease_tests() noexcept;
std::span<const test_case> dead_holder_tests() noexcept;
std::span<const test_case> token_tests() noexcept;
std::span<const test_case> queue_tests() noexcept;
std::span<const test_case> queue_rule_tests() noexcept;
std::span<const test_case> lifetime_tests() noexcept;
std::span<const test_case> name_tests() noexcept;
std::span<const test_case> inspection_tests() noexcept;
std::span<const test_case> mutex_tests() noexcept;
std::span<const test_case> contention_tests() noexcept;
std::span<const test_case> work_tests() noexcept;
std::span<const test_case> owner_tests() noexcept;
std::span<const test_case> lock_set_tests() noexcept;
std::span<const test_case> value_tests() noexcept;
std::span<const test_case> election_tests() noexcept;
std::span<const test_case> shared_tests() noexcept;
std::span<const test_case> permits_tests() noexcept;
std::span<const test_case> fair_tests() noexcept;
std::span<const test_case> hold_change_tests() noexcept;
std::span<const test_case> shared_mutex_tests() noexcept;
std::span<const test_case> latch_tests() noexcept;
std::span<const test_case> durability_tests() noexcept;

}  // namespace pawl::conformance
