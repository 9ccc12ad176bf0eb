// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How reasons of losses and results of releases belong together.
#pragma once

#include <pawl/types.hpp>

namespace pawl::core {

// The service has answered that the hold has ended.
[[nodiscard]] inline bool is_ended_by_service(loss_reason reason) noexcept {
    return reason == loss_reason::taken_over || reason == loss_reason::failed_over ||
           reason == loss_reason::missing;
}

// The result of a release after the loss.
[[nodiscard]] inline release_result release_result_of_lost(loss_reason reason) noexcept {
    const bool is_taken_over = reason == loss_reason::taken_over ||
                               reason == loss_reason::failed_over || reason == loss_reason::forced;
    return is_taken_over ? release_result::taken_over : release_result::expired;
}

// What the answer to a release says about the hold. The lease had not ended by this client's clock,
// so `expired` means that the service has lost the hold.
[[nodiscard]] inline loss_reason loss_found_by(release_result result) noexcept {
    switch (result) {
    case release_result::expired: return loss_reason::missing;
    case release_result::taken_over: return loss_reason::taken_over;
    case release_result::released:
    case release_result::unknown:
    case release_result::still_held: break;
    }
    return loss_reason::none;
}

}  // namespace pawl::core
