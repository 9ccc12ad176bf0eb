// The link over the network: one connection after the other, so that nothing is ever sent twice and
// each is greeted before it is used.
#pragma once

#include "link.hpp"

#include <pawl/backend.hpp>
#include <pawl/redis.hpp>

#include <functional>
#include <memory>

namespace pawl::redis {

// `channel` is what every connection subscribes to; empty: nothing of its own.
using link_factory =
    std::function<std::unique_ptr<link>(link::listener& to, const std::string& channel)>;

[[nodiscard]] link_factory boost_link_factory(const options& where, const backend_context& context);

}  // namespace pawl::redis
