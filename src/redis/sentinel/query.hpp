// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Asks one Sentinel, with the commands of the page "High availability with Redis Sentinel" of
// Redis.
#pragma once

#include "vote.hpp"

#include "../transport/link.hpp"

#include <pawl/redis.hpp>

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace pawl::redis {

// On which the Sentinels announce a new master.
inline constexpr std::string_view switch_channel = "+switch-master";

// Throws as `link::exec` does; errc::bad_option if the Sentinel does not know the master, and
// errc::unavailable if a failover changed its answer meanwhile. `subject` names the Sentinel.
// `monitored` must outlive the call.
[[nodiscard]] boost::asio::awaitable<sentinel_view> query_sentinel(
    std::shared_ptr<link> sentinel_link, const options& monitored, std::string subject,
    time_point give_up_at);

}  // namespace pawl::redis
