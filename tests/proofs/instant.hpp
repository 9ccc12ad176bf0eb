// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The time of all records: ns of the boot clock, which all processes of a machine share.
#pragma once

#include <pawl/types.hpp>

#include <cstdint>

namespace proofs {

using instant = std::int64_t;

[[nodiscard]] inline instant now() { return pawl::boot_clock::now().time_since_epoch().count(); }

}  // namespace proofs
