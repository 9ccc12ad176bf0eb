// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What `doctor` finds in a cluster of etcd.
#pragma once

#include "lock_client.hpp"

#include <pawl/examination.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace pawl::etcd {

[[nodiscard]] boost::asio::awaitable<examination> examine(std::shared_ptr<lock_client> client);

// What each event does to locks and tokens.
[[nodiscard]] guarantee_row guarantees();
// The finding about a member's version: it may have faults that concern locks.
[[nodiscard]] finding version_finding(std::string_view version);
// The finding about the size of the database, in bytes, and the part of it that is in use.
[[nodiscard]] finding size_finding(std::int64_t size, std::int64_t in_use);

}  // namespace pawl::etcd
