// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The state of a latch as its waiters read it, and the errors that backends share.
#pragma once

#include <pawl/error.hpp>
#include <pawl/types.hpp>

#include <cstdint>
#include <string_view>

namespace pawl::core {

struct latch_state {
    bool known = false;
    std::uint64_t count = 0;
    std::uint64_t generation = 0;
    std::uint64_t first = 0;  // the oldest generation that the service knows
    time_point expires{};     // optional; set by backends that need it
};
// True if the generation is over. 0 means the present generation, and is set to its number. Throws
// `unknown_latch_error`.
[[nodiscard]] bool is_over(const latch_state& state, std::string_view name,
                           std::uint64_t& generation);

// errc::lost: the service does not know the latch.
[[nodiscard]] error unknown_latch_error(std::string_view name);
// errc::bad_option: the barrier has another number of parties. 0 stored parties: it is a latch.
[[nodiscard]] error other_parties_error(std::string_view name, std::uint64_t stored,
                                        std::uint64_t requested);
}  // namespace pawl::core
