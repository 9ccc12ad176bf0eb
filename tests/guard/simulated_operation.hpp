// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the simulation knows about an operation, beside its record: whose claim is the last one, and
// what became of its effects.
#pragma once

#if PAWL_WITH_SQLITE

#include <cstdint>
#include <string>

namespace guard_tests {

// A promise of `once` that was broken.
struct violation {
    std::string text;
};

struct simulated_operation {
    std::string scope, key;
    bool is_outside = false;  // its effect is a write to a register that refuses older tokens
    int generation = 1;       // the operations that have used the key, one after the other
    bool is_open = true;      // callers of this generation still ask

    // Of this generation.
    std::int64_t holder = 0;  // the attempt with the last claim
    std::int64_t holder_token = 0;
    std::int64_t lease_end = 0;  // in ms; 0: it was given up, or has ended
    std::int64_t pause_end = 0;  // of the pause after it was given up
    std::uint32_t claims = 0;
    std::int64_t effect_by = 0;    // the attempt whose effect was committed
    std::int64_t recorded_by = 0;  // the attempt that was told that it ended the operation
    std::string final_row;         // of the finished record
    std::int64_t finished_at = 0;

    // The register outside.
    std::int64_t register_token = 0, register_value = 0;

    [[nodiscard]] std::string name() const {
        return scope + "/" + key + " " + std::to_string(generation);
    }
    [[nodiscard]] std::string request() const { return "request " + std::to_string(generation); }
    void begin_next_generation() {
        ++generation;
        is_open = true;
        holder = holder_token = lease_end = pause_end = effect_by = recorded_by = finished_at = 0;
        claims = 0;
        final_row.clear();
    }
};

}  // namespace guard_tests

#endif
