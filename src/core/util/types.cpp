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
    case lock_state::at_risk: return "at_risk";
    case lock_state::lost: return "lost";
    case lock_state::released: return "released";
    }
    return "?";
}

const char* to_string(loss_reason reason) noexcept {
    switch (reason) {
    case loss_reason::none: return "none";
    case loss_reason::expired: return "expired";
    case loss_reason::missing: return "missing";
    case loss_reason::taken_over: return "taken_over";
    case loss_reason::failed_over: return "failed_over";
    case loss_reason::forced: return "forced";
    case loss_reason::max_hold: return "max_hold";
    case loss_reason::client_closed: return "client_closed";
    case loss_reason::forked: return "forked";
    }
    return "?";
}

const char* describe(loss_reason reason) noexcept {
    switch (reason) {
    case loss_reason::none: return "the hold is not lost";
    case loss_reason::expired: return "no renewal was confirmed in time";
    case loss_reason::missing:
        return "the service does not have the hold any more: it was deleted or has expired, or the "
               "service has lost data";
    case loss_reason::taken_over: return "the service has ended the hold, or another holder has it";
    case loss_reason::failed_over: return "the hold was lost in a failover";
    case loss_reason::forced: return "it was released by force";
    case loss_reason::max_hold: return "its max_hold is over";
    case loss_reason::client_closed: return "its client was closed";
    case loss_reason::forked: return "this process is a fork of the holder";
    }
    return "?";
}

const char* to_string(release_result result) noexcept {
    switch (result) {
    case release_result::released: return "released";
    case release_result::expired: return "expired";
    case release_result::taken_over: return "taken_over";
    case release_result::unknown: return "unknown";
    case release_result::still_held: return "still_held";
    }
    return "?";
}

}  // namespace pawl
