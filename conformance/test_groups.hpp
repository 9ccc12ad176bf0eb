// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The groups of `all_promises`, and the capabilities that a test requires.
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

std::span<const test_case> exclusion_promises() noexcept;
std::span<const test_case> waiting_promises() noexcept;
std::span<const test_case> cancelling_promises() noexcept;
std::span<const test_case> lease_promises() noexcept;
std::span<const test_case> dead_holder_promises() noexcept;
std::span<const test_case> token_promises() noexcept;
std::span<const test_case> queue_promises() noexcept;
std::span<const test_case> lifetime_promises() noexcept;
std::span<const test_case> name_promises() noexcept;
std::span<const test_case> inspection_promises() noexcept;
std::span<const test_case> mutex_promises() noexcept;
std::span<const test_case> contention_promises() noexcept;
std::span<const test_case> work_promises() noexcept;
std::span<const test_case> owner_promises() noexcept;
std::span<const test_case> lock_set_promises() noexcept;
std::span<const test_case> value_promises() noexcept;
std::span<const test_case> election_promises() noexcept;
std::span<const test_case> shared_promises() noexcept;
std::span<const test_case> permits_promises() noexcept;
std::span<const test_case> fair_promises() noexcept;
std::span<const test_case> hold_change_promises() noexcept;
std::span<const test_case> shared_mutex_promises() noexcept;
std::span<const test_case> latch_promises() noexcept;

}  // namespace pawl::conformance
