// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Runs a script at the server of its keys: by its digest, and by its text if the server does not
// know it.
#pragma once

#include "../topology/follow_key.hpp"
#include "script_call.hpp"
#include "server_words.hpp"

#include <boost/asio/awaitable.hpp>

#include <string_view>
#include <utility>

namespace pawl::redis {

// For scripts that need only the commands of channels.
inline constexpr auto session_words = [](const link& asked) {
    return server_words{asked.current().publish_command(), asked.current().count_command()};
};

// As `follow_key`. `call` has the function `command`; `words_of` is called with the link that is
// asked.
template <class Call, class WordsOf>
[[nodiscard]] boost::asio::awaitable<answer> run_script(topology& servers, std::string_view key,
                                                        const Call& call, const WordsOf& words_of,
                                                        time_point give_up_at) {
    auto compose_call = [&call, &words_of, words = server_words()](const link& asked) mutable {
        words = words_of(asked);
        return call.command(words);
    };
    return follow_key(servers, key, give_up_at, std::move(compose_call));
}

}  // namespace pawl::redis
