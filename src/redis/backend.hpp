// The Redis backend over any link: the real one, or that of the simulation.
#pragma once

#include "boost_link.hpp"
#include "limits.hpp"

#include <pawl/backend.hpp>
#include <pawl/redis.hpp>

#include <memory>

namespace pawl::redis {

[[nodiscard]] std::unique_ptr<backend> make_backend(const options& where,
                                                    const backend_context& context,
                                                    const link_factory& connect,
                                                    const limits& bounds = {});

}  // namespace pawl::redis
