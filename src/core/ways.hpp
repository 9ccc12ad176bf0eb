// The ways to ask for a lock, behind both faces.
#pragma once

#include "engine.hpp"

#include <optional>

namespace pawl::core {

// What is asked for: with `once`, tries that wait for nobody; else `options.wait` counts.
struct request {
    lock_options options;
    std::optional<polling> once;
};

[[nodiscard]] request to_request(const try_options& options);

// On the engine's strand. Null: somebody else's, where `once`. Throws pawl::error.
[[nodiscard]] boost::asio::awaitable<std::shared_ptr<lease>> take(engine::ptr home,
                                                                  std::string name, request how);

}  // namespace pawl::core
