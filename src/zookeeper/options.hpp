// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The options of a service, and their URLs.
#pragma once

#include <pawl/zookeeper.hpp>

#include <string>
#include <string_view>

namespace pawl::zookeeper {

// Throws errc::bad_url, and errc::bad_option.
[[nodiscard]] options parse_options(std::string_view url);
// Throws errc::bad_option for options that cannot be used.
void check_options(const options& given);
// "ZooKeeper at h1:2181, h2:2181 (/pawl)", for messages.
[[nodiscard]] std::string describe(const options& given);
// The longest timeout of a session.
[[nodiscard]] duration longest_session(const options& given) noexcept;

}  // namespace pawl::zookeeper
