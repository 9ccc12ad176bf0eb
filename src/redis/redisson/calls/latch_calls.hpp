// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The calls of the scripts for Redisson's RCountDownLatch.
#pragma once

#include "../../scripting/script_call.hpp"
#include "../../scripting/server_words.hpp"
#include "../../transport/link.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace pawl::redis::redisson {

// latch_set.lua
struct latch_set_call {
    std::string_view latch_key;
    std::string count;
    std::string_view channel;

    [[nodiscard]] script_call command(const server_words& words) const;
    // False: a latch is counting.
    [[nodiscard]] bool read(const reply& from) const;
};

// latch_down.lua
struct latch_down_call {
    std::string_view latch_key;
    std::string steps;
    std::string_view channel;

    [[nodiscard]] script_call command(const server_words& words) const;
    // The remaining count.
    [[nodiscard]] std::uint64_t read(const reply& from) const;
};

// latch_reset.lua
struct latch_reset_call {
    std::string_view latch_key;
    std::string_view channel;

    [[nodiscard]] script_call command(const server_words& words) const;
    // False: there was no latch.
    [[nodiscard]] bool read(const reply& from) const;
};

}  // namespace pawl::redis::redisson
