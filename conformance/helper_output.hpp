// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The lines that the helper process writes.
#pragma once

#include <pawl/types.hpp>

#include <string>

namespace pawl::conformance {

// Writes one line of a reply.
void write_line(const std::string& line);

// One word for each value; `to_string` is text for people.
[[nodiscard]] std::string word(lock_state state);
[[nodiscard]] std::string word(release_result result);

template <class Lock>
[[nodiscard]] std::string describe_state(const Lock& lock) {
    const bool forked = lock.why_lost() == loss_reason::forked;
    return word(lock.state()) + (forked ? " forked" : "");
}

}  // namespace pawl::conformance
