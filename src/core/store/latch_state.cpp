// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "latch_state.hpp"

namespace pawl::core {

error unknown_latch_error(std::string_view name) {
    return {errc::lost, "The latch '" + std::string(name) +
                            "' is not known to the service: it was never set, was reset, or is "
                            "forgotten; set it again."};
}

error other_parties_error(std::string_view name, std::uint64_t stored, std::uint64_t requested) {
    if (stored == 0)
        return {errc::bad_option, "'" + std::string(name) +
                                      "' is counting as a latch; use another name for the barrier, "
                                      "or wait until it is at 0."};
    return {errc::bad_option,
            "The barrier '" + std::string(name) + "' has " + std::to_string(stored) +
                (stored == 1 ? " party, not " : " parties, not ") + std::to_string(requested) +
                "; give all parties the same number, or reset the barrier."};
}

bool is_over(const latch_state& state, std::string_view name, std::uint64_t& generation) {
    if (!state.known) throw unknown_latch_error(name);
    if (generation == 0) generation = state.generation;
    if (generation < state.first || generation > state.generation) throw unknown_latch_error(name);
    return generation < state.generation || state.count == 0;
}

}  // namespace pawl::core
