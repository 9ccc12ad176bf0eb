// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The operations of a semaphore object, behind both APIs.
#pragma once

#include "engine.hpp"

#include <memory>
#include <string>

namespace pawl::core {

// The total of one semaphore object. Used on the engine's strand.
struct semaphore_total {
    std::uint32_t permits = 0;  // the total; 0: the one that the service keeps
    bool is_accepted = false;   // the service has accepted it
};

// All run on the engine's strand and throw pawl::error.

// Empty for a single attempt: the permits are not free. The total is sent until the service has
// accepted it, so a later resize by any program does not disturb this object. The total is sent
// again to a service that has forgotten it.
boost::asio::awaitable<lease_handle> acquire_permits(engine::ptr engine,
                                                     std::shared_ptr<semaphore_total> total,
                                                     std::string name, lock_options options,
                                                     bool single_attempt);
boost::asio::awaitable<bool> resize(engine::ptr engine, std::shared_ptr<semaphore_total> total,
                                    std::string name, std::uint32_t permits);

}  // namespace pawl::core
