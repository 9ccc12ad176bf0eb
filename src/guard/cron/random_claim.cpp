// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/guard/schedule_watch.hpp>
#include <pawl/spi/runtime.hpp>

#include <span>

namespace pawl::guard {

std::string random_claim() {
    std::string claim(16, '\0');
    spi::real_runtime().random(std::as_writable_bytes(std::span(claim)));
    return claim;
}

}  // namespace pawl::guard
