// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The interface of a backend, in the words that the code of src uses every day: `claim`, `hold`,
// `backend`. Users of the library see them in `pawl::spi` only.
#pragma once

#include <pawl/spi/backend.hpp>

namespace pawl {
using namespace spi;
}  // namespace pawl
