// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/types.hpp>

#include <ctime>

namespace pawl {

boot_clock::time_point boot_clock::now() noexcept {
    timespec t{};
    ::clock_gettime(CLOCK_BOOTTIME, &t);
    return time_point(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
}

std::string to_string(fencing_token token) { return std::to_string(token.value()); }

std::ostream& operator<<(std::ostream& out, fencing_token token) { return out << token.value(); }

const char* to_string(lock_mode mode) noexcept {
    switch (mode) {
    case lock_mode::exclusive: return "exclusive";
    case lock_mode::shared: return "shared";
    case lock_mode::permits: return "permits";
    }
    return "?";
}

const char* to_string(lock_state state) noexcept {
    switch (state) {
    case lock_state::held: return "held";
    case lock_state::at_risk: return "at risk";
    case lock_state::lost: return "lost";
    case lock_state::released: return "released";
    }
    return "?";
}

const char* to_string(loss_reason reason) noexcept {
    switch (reason) {
    case loss_reason::none: return "none";
    case loss_reason::expired: return "expired";
    case loss_reason::taken_over: return "taken over";
    case loss_reason::failed_over: return "lost in a failover";
    case loss_reason::forced: return "released by force";
    case loss_reason::max_hold: return "max_hold is over";
    case loss_reason::client_closed: return "its client was closed";
    case loss_reason::forked: return "this process is a fork of the holder";
    }
    return "?";
}

const char* to_string(release_result result) noexcept {
    switch (result) {
    case release_result::released: return "released";
    case release_result::expired: return "expired";
    case release_result::taken_over: return "taken over";
    case release_result::unknown: return "unknown";
    case release_result::still_held: return "still held";
    }
    return "?";
}

}  // namespace pawl
