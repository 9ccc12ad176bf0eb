// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/guard/once_options.hpp>

namespace pawl::guard {

const char* to_string(once_state state) noexcept {
    switch (state) {
    case once_state::done: return "done";
    case once_state::replayed: return "replayed";
    case once_state::running: return "running";
    case once_state::failed: return "failed";
    case once_state::mismatch: return "mismatch";
    }
    return "?";
}

}  // namespace pawl::guard
