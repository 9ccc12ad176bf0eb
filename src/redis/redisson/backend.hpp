// Locks that Java services take with Redisson, as a backend over the same link.
#pragma once

#include "../boost_link.hpp"
#include "../limits.hpp"

#include <pawl/backend.hpp>
#include <pawl/redis.hpp>

#include <memory>

namespace pawl::redis::redisson {

[[nodiscard]] std::unique_ptr<backend> make_backend(const options& where,
                                                    const backend_context& context,
                                                    const link_factory& connect,
                                                    const limits& bounds = {});

}  // namespace pawl::redis::redisson
