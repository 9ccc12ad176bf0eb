// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The libFuzzer entry of a target; PAWL_FUZZ_TARGET names the target.
#include "targets/targets.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

void (*chosen_target())(std::string_view) {
    const char* name = std::getenv("PAWL_FUZZ_TARGET");
    for (const auto& each : fuzz::all_targets()) {
        if (name != nullptr && std::string_view(name) == each.name) return each.run;
    }
    fuzz::fail("PAWL_FUZZ_TARGET names no target; use ./dev fuzz.");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    static auto* const run = chosen_target();
    run({reinterpret_cast<const char*>(bytes), size});
    return 0;
}
