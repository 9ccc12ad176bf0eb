// The settings of a client, in the sync and the async API.
#pragma once

#include <pawl/types.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace pawl {

class runtime;

struct client_options {
    // What `pawl status` shows for this holder; empty: the name of the running program.
    std::string command{};
    // The process that `pawl status` shows; 0: this one.
    std::int64_t pid = 0;
    // How long the destructor lets releases and undoings finish.
    duration drain = std::chrono::seconds(2);
    // Told of reconnects, retries and losses: one line each, never a password. May be called from
    // any thread; must not throw or block.
    std::function<void(std::string_view)> log{};
    // For tests; null: the real one.
    runtime* time = nullptr;
};

}  // namespace pawl
