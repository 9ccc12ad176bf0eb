// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include "lock_client.hpp"

#include <pawl/examination.hpp>

#include <memory>

namespace pawl::zookeeper {

// As of `backend`: asks every server.
[[nodiscard]] boost::asio::awaitable<examination> examine(std::shared_ptr<lock_client> client);

}  // namespace pawl::zookeeper
