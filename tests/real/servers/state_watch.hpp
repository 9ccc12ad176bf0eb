// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Looks at servers all the time, and remembers what each of them was and when.
#pragma once

#include <real/record/server_history.hpp>

#include <support/resp.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace real {

// The replies to the commands of a look.
using look_replies = std::vector<support::resp_value>;

// The sockets of `count` servers: `server_at(i)` is a support::redis_server.
template <class ServerAt>
std::vector<std::string> unix_sockets(std::size_t count, const ServerAt& server_at) {
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < count; ++i)
        paths.push_back(server_at(i).unix_socket());
    return paths;
}

template <class State>
class state_watch {
public:
    struct period {
        State state;
        change_time from;
        change_time until{.earliest = not_yet, .latest = not_yet};
    };
    // Empty if the replies are no answer: an error, or a change between them.
    using reader = std::function<std::optional<State>(const look_replies&)>;

    // A thread for each server looks through its Unix socket, which no fault of the network cuts.
    // While a server is stopped, its look waits.
    state_watch(const std::vector<std::string>& sockets, std::vector<support::command_words> look,
                reader read)
        : look_(std::move(look)), read_(std::move(read)), servers_(sockets.size()) {
        for (std::size_t i = 0; i < sockets.size(); ++i)
            threads_.emplace_back([this, i, path = sockets[i]](const std::stop_token& stop) {
                watch(servers_[i], {.port = 0, .unix_socket = path}, stop);
            });
    }

    // Of server i, in their order.
    [[nodiscard]] std::vector<period> periods(std::size_t index) {
        const std::scoped_lock guard(mutex_);
        return servers_.at(index).periods;
    }

private:
    using milliseconds = std::chrono::milliseconds;
    struct watched_server {
        std::vector<period> periods;
        bool is_away = true;
        instant last_look = 0;  // the request of the last look with an answer
    };

    void watch(watched_server& server, const support::endpoint& target,
               const std::stop_token& stop) {
        std::unique_ptr<support::resp_client> connection;
        while (!stop.stop_requested()) {
            const auto asked = now();
            const bool was_connected = connection != nullptr;
            try {
                if (!was_connected) connection = std::make_unique<support::resp_client>(target);
                if (const auto replies = look(*connection, stop))
                    if (auto state = read_(*replies)) add(server, std::move(state), asked);
            } catch (const std::runtime_error&) {
                connection.reset();
                // The end of a connection says nothing: Sentinels end those of a server that they
                // reconfigure.
                if (was_connected) continue;
                add(server, std::nullopt, asked);
            }
            std::this_thread::sleep_for(milliseconds(20));  // between two looks
        }
    }

    // Empty if it is time to stop.
    std::optional<look_replies> look(support::resp_client& connection,
                                     const std::stop_token& stop) const {
        for (const auto& words : look_)
            connection.send(words);
        look_replies replies;
        while (replies.size() < look_.size()) {
            if (stop.stop_requested()) return std::nullopt;
            if (auto reply = connection.receive(milliseconds(100)))
                replies.push_back(std::move(*reply));
        }
        return replies;
    }

    // No state: the server is away.
    void add(watched_server& server, std::optional<State> state, instant asked) {
        const std::scoped_lock guard(mutex_);
        const change_time change{.earliest = std::exchange(server.last_look, asked),
                                 .latest = now()};
        auto& all = server.periods;
        if (!server.is_away && state && all.back().state == *state) return;
        if (!server.is_away) all.back().until = change;
        server.is_away = !state;
        if (state) all.push_back({.state = std::move(*state), .from = change});
    }

    const std::vector<support::command_words> look_;
    const reader read_;
    std::mutex mutex_;
    std::vector<watched_server> servers_;
    std::vector<std::jthread> threads_;
};

}  // namespace real
