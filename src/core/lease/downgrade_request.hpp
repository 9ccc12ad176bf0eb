// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Asks the service to make an exclusive hold shared, until there is an answer.
#pragma once

#include "../util/spi.hpp"
#include "lease.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <memory>
#include <optional>

namespace pawl::core {

// Empty: the service does not have the hold. Throws errc::lost at the end of the lease; an
// unanswered request may then have left a shared hold at the service, for one ttl. On the strand.
boost::asio::awaitable<std::optional<grant>> request_downgrade(backend& backend, runtime& time,
                                                               boost::asio::any_io_executor strand,
                                                               std::shared_ptr<lease> lease);

}  // namespace pawl::core
