// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Sends a command about a key to its server, and follows the key if it moves.
#pragma once

#include "connected_link.hpp"

#include <boost/asio/awaitable.hpp>

#include <span>
#include <string_view>
#include <utility>

namespace pawl::redis {

// The reply to a request about a key, and the link over which it came.
struct answer : reply {
    answer(reply&& received, const link& asked) : reply(std::move(received)), from(&asked) {}

    const link* from;
};

// `compose(link)` makes the command for the server that is asked next, as late as possible: nothing
// suspends before it is sent. Its `words()` are sent. If its `must_repeat` returns true for the
// reply, another command is composed; that of a script then sends its text. Throws as `link::exec`
// does. All arguments must outlive the operation, except for `compose`.
template <class Compose>
[[nodiscard]] boost::asio::awaitable<answer> follow_key(topology& servers, std::string_view key,
                                                        time_point give_up_at, Compose compose,
                                                        prelude usual = prelude::none) {
    redirection progress;
    bool is_repetition = false;
    for (;;) {
        auto* asked = progress.asked_next != nullptr ? progress.asked_next : &servers.link_of(key);
        if (!asked->connected()) asked = co_await connected_link_of(servers, key, give_up_at);
        const auto before = asked == progress.asked_next ? prelude::ask : usual;
        auto command = compose(*asked);
        if constexpr (requires { command.send_text(); })
            if (is_repetition) command.send_text();
        auto received = co_await asked->exec(command.words(), give_up_at, before);
        answer result(std::move(received), *asked);
        is_repetition = command.must_repeat(result);
        if (is_repetition) continue;
        if (result.type != reply::kind::error || !servers.may_follow(result)) co_return result;
        const bool is_moved = co_await servers.follow(progress, key, *asked, result, give_up_at);
        if (!is_moved) co_return result;
    }
}

// A command that is the same for every server.
struct fixed_command {
    std::span<const std::string_view> text;

    [[nodiscard]] std::span<const std::string_view> words() const noexcept { return text; }
    [[nodiscard]] static bool must_repeat(const reply&) noexcept { return false; }
};

// The same for a command that does not depend on the server.
[[nodiscard]] inline boost::asio::awaitable<answer> exec_at(topology& servers, std::string_view key,
                                                            std::span<const std::string_view> words,
                                                            time_point give_up_at) {
    const auto compose = [words](const link&) { return fixed_command{words}; };
    return follow_key(servers, key, give_up_at, compose);
}

}  // namespace pawl::redis
