// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The errors of backends that keep a semaphore's total.
#pragma once

#include "../util/spi.hpp"

#include <pawl/error.hpp>
#include <pawl/types.hpp>

#include <string>

namespace pawl::core {

// "1 permit", "5 permits".
[[nodiscard]] std::string permits_text(std::uint32_t count);

// errc::bad_option: no total is stored and the claim has none; another total is stored; the claim
// is for more permits than the total.
[[nodiscard]] error no_total_error(const claim& claim);
[[nodiscard]] error other_total_error(const claim& claim, std::uint32_t stored);
[[nodiscard]] error too_many_error(const claim& claim, std::uint32_t total);

// The total, from the stored one (0: none) and the claim's. Throws one of these errors if they do
// not agree.
[[nodiscard]] std::uint32_t check_total(const claim& claim, std::uint32_t stored);

// Sets `free_permits` for a service that reports the total and the holders only.
void set_free_permits(lock_info& info) noexcept;

}  // namespace pawl::core
