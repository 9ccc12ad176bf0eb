// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The tested libraries, with the key template under which Pawl shares their locks.
#pragma once

#include "peer.hpp"

#include <vector>

namespace plain {

[[nodiscard]] const std::vector<library>& libraries();
[[nodiscard]] std::vector<library> polling_libraries();
// Libraries whose user may choose the value: the verbs `take_as` and `adopt`.
[[nodiscard]] std::vector<library> libraries_with_values();
[[nodiscard]] std::vector<library> libraries_with_redlock();

}  // namespace plain
