// What a server is worth as a place for locks.
#pragma once

#include "link.hpp"

#include <pawl/redis.hpp>
#include <pawl/runtime.hpp>

namespace pawl::redis {

// The references must outlive the coroutine.
[[nodiscard]] boost::asio::awaitable<examination> examine_server(link& over, runtime& time,
                                                                 const options& where);

}  // namespace pawl::redis
