// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Findings and guarantees, for `doctor`.
#pragma once

#include "api.hpp"

#include <pawl/examination.hpp>

namespace pawl::consul {

// The row of the page of guarantees.
[[nodiscard]] guarantee_row guarantees();

// Throws as `api` does.
[[nodiscard]] boost::asio::awaitable<examination> examine_service(api& server,
                                                                  time_point give_up_at);

}  // namespace pawl::consul
