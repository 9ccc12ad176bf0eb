// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include <pawl/etcd.hpp>

#include <string>

namespace pawl::etcd {

// Throws errc::bad_option with one sentence.
void check_options(const options& settings);
// The URL for messages, without user and password.
[[nodiscard]] std::string describe(const options& settings);

}  // namespace pawl::etcd
