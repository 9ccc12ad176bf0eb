// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The servers of a client, its undo queues, and the times that requests have for their replies.
// Every part of a backend needs these.
#pragma once

#include "../scripting/known_scripts.hpp"
#include "../topology/connected_link.hpp"
#include "core/util/spi.hpp"
#include "limits.hpp"
#include "undo_queues.hpp"
#include "waits.hpp"

#include <pawl/error.hpp>
#include <pawl/redis.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace pawl::redis {

// The key that decides which server has the lock of this name.
using key_function = std::function<std::string(std::string_view name)>;

// Used on one strand.
class server_access {
public:
    server_access(const server_access&) = delete;
    server_access& operator=(const server_access&) = delete;

    [[nodiscard]] const options& settings() const noexcept { return options_; }
    [[nodiscard]] const backend_context& context() const noexcept { return context_; }
    [[nodiscard]] const limits& bounds() const noexcept { return bounds_; }
    [[nodiscard]] topology& servers() const noexcept { return *servers_; }
    // Makes other links to the servers. There is one copy in a client: it has the options.
    [[nodiscard]] const topology_factory& connect() const noexcept { return connect_; }
    [[nodiscard]] undo_queues& undos() noexcept { return undos_; }
    // The scripts whose text the servers have.
    [[nodiscard]] known_scripts& texts_at_servers() noexcept { return known_scripts_; }

    runtime& time() const noexcept { return *context_.time; }
    time_point now() const noexcept { return context_.time->now(); }
    time_point reply_deadline() const { return now() + options_.reply_timeout; }
    // The same for an attempt that does not wait.
    time_point try_deadline() const {
        return now() + std::min(options_.reply_timeout, context_.try_limit);
    }
    // The same for a request of an acquire. If the acquire waits, it gives up at `give_up_at`.
    time_point reply_deadline(bool is_blocking, time_point give_up_at) const {
        return is_blocking ? std::max(give_up_at, now() + min_reply_wait) : try_deadline();
    }
    time_point release_deadline(const hold& held) const {
        return redis::release_deadline(held, now(), options_.reply_timeout);
    }
    // Call this before a request over this link that may have to be undone. Throws
    // errc::unavailable when too many undos for its server are pending.
    void check_room_for_undo(const link& server_link);
    boost::asio::awaitable<void> pause(duration at_least, duration at_most);
    void log(const std::string& line) const {
        if (context_.log) context_.log(line);
    }

protected:
    // `channel` as in topology_factory.
    server_access(const options& server_options, backend_context context, topology_factory connect,
                  link::listener& receiver, const std::string& channel, const limits& bounds);
    ~server_access() = default;

    const options options_;
    const backend_context context_;
    const limits bounds_;
    const topology_factory connect_;
    const std::shared_ptr<topology> servers_;
    undo_queues undos_;
    known_scripts known_scripts_;
};

// The error for a lock or latch that could not be requested from the server.
// `subject` is the first words of the sentence: "The lock 'x'".
[[nodiscard]] inline error could_not_be_requested(std::string_view subject,
                                                  std::string_view reason) {
    return {errc::unreachable, std::string(subject) + " could not be requested: " +
                                   std::string(reason) + "; check that the server is up."};
}
[[nodiscard]] inline error lock_unreachable(std::string_view name, std::string_view reason) {
    return could_not_be_requested("The lock '" + std::string(name) + "'", reason);
}

}  // namespace pawl::redis
