// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "run_script.hpp"

#include <string>

namespace pawl::redis {

boost::asio::awaitable<reply> run_script(link& server_link, script_call call, time_point give_up_at,
                                         bool tracked) {
    const auto key_count = std::to_string(call.keys().size());
    const auto words = call.words();
    words[0] = "EVALSHA";
    words[1] = call.code().sha1;
    words[2] = key_count;
    for (;;) {
        auto reply = co_await server_link.exec(words, give_up_at, tracked);
        const bool is_unknown =
            reply.type == reply::kind::error && reply.text.starts_with("NOSCRIPT");
        if (!is_unknown || words[0] == "EVAL") co_return reply;
        // The server executed nothing, so the same call may be sent again.
        words[0] = "EVAL";
        words[1] = call.code().text;
    }
}

}  // namespace pawl::redis
