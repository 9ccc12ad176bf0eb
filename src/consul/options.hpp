// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The options of a client, and their errors.
#pragma once

#include <pawl/consul.hpp>

#include <string>
#include <string_view>

namespace pawl::consul {

// Throws errc::bad_option.
void check_options(const options& settings);
// The URL without a token. Two services with the same text have the same locks.
[[nodiscard]] std::string describe(const options& settings);

}  // namespace pawl::consul
