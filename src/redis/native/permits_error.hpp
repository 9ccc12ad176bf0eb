// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Throws the error for permits that the server has refused.
#pragma once

#include "calls/acquire_calls.hpp"
#include "core/util/spi.hpp"

#include "../../core/store/permits.hpp"

#include <pawl/error.hpp>

#include <cstdint>

namespace pawl::redis::native {

[[noreturn]] inline void throw_permits_error(permits_refusal refusal, std::uint32_t stored_total,
                                             claim requested) {
    // Only `other_total` means that the caller's total is wrong.
    if (refusal != permits_refusal::other_total) requested.total_permits = 0;
    static_cast<void>(core::check_total(requested, stored_total));
    throw error(errc::protocol, requested.name +
                                    ": the server refuses permits that its own total allows; run "
                                    "`pawl doctor` to see what kind of server this is.");
}

}  // namespace pawl::redis::native
