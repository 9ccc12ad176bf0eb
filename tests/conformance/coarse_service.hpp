// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A service whose leases last whole seconds, and 2 s or longer, as in etcd.
#pragma once

#include <pawl/service.hpp>
#include <pawl/spi/backend.hpp>

#include <chrono>

namespace tested {

constexpr void make_coarse(pawl::spi::capabilities& capabilities) {
    capabilities.least_ttl = std::chrono::seconds(2);
    capabilities.ttl_granularity = std::chrono::seconds(1);
}

// `service`, but a request with any other ttl is an error: the core must have rounded the ttl.
[[nodiscard]] pawl::service coarse_service(const pawl::service& service);

}  // namespace tested
