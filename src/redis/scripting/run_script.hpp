// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Runs a script at the server of its keys: by its digest, and by its text if the server does not
// know it. Follows a key that has moved to another server.
#pragma once

#include "../topology/connected_link.hpp"
#include "core/util/spi.hpp"
#include "failed_command.hpp"
#include "known_scripts.hpp"
#include "script_call.hpp"
#include "server_words.hpp"

#include <boost/asio/awaitable.hpp>

#include <utility>

namespace pawl::redis {

// For scripts without arguments that depend on the server.
inline constexpr auto no_words = [](const link&) { return server_words{}; };

// For scripts that need only the commands of channels.
inline constexpr auto session_words = [](const link& asked) {
    return server_words{asked.current().publish_command(), asked.current().count_command()};
};

// When the request was sent that the server has executed. One that was refused and sent again, by
// its text or to another server, has executed nothing.
struct sending_time {
    const runtime& clock;
    time_point at{};

    void note() noexcept { at = clock.now(); }
};

// `call` has the function `command`; `words_of` is called with the link that is asked, as late as
// possible. `key` is one of the call's. All must outlive the operation. Throws as `link::exec`
// does. `known` is the link of the key, for callers that have just asked for it and saw that it is
// connected; null: unknown. With `texts`, a script that is not among them is sent by its text: the
// deadline of a renewal leaves no time for a second round trip. `sent`: to be noted.
template <class Call, class WordsOf>
[[nodiscard]] boost::asio::awaitable<reply> run_script(
    topology& servers, std::string_view key, const Call& call, const WordsOf& words_of,
    time_point give_up_at, prelude usual = prelude::none, link* known = nullptr,
    known_scripts* texts = nullptr, sending_time* sent = nullptr) {
    redirection progress;
    for (;;) {
        auto* asked = std::exchange(known, nullptr);
        if (asked == nullptr) {
            asked = progress.asked_next != nullptr ? progress.asked_next : &servers.link_of(key);
            if (!asked->connected()) asked = co_await connected_link_of(servers, key, give_up_at);
        }
        const auto before = asked == progress.asked_next ? prelude::ask : usual;
        const server_words words = words_of(*asked);
        script_call command = call.command(words);
        if (texts != nullptr && !texts->contains(*asked, command.code())) command.send_text();
        if (sent != nullptr) sent->note();
        auto answer = co_await asked->exec(command.words(), give_up_at, before);
        if (answer.type == reply::kind::error && answer.text.starts_with("NOSCRIPT")) {
            // The server executed nothing, so the same call may be sent again.
            command.send_text();
            if (sent != nullptr) sent->note();
            answer = co_await asked->exec(command.words(), give_up_at, before);
        }
        if (texts != nullptr) texts->add(*asked, command.code());
        name_failed_command(answer, command.code());
        if (answer.type != reply::kind::error || !servers.may_follow(answer)) co_return answer;
        const bool is_moved = co_await servers.follow(progress, key, *asked, answer, give_up_at);
        if (!is_moved) co_return answer;
    }
}

}  // namespace pawl::redis
