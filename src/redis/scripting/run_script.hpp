// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Runs a script of the server by its digest, and sends its text if the server does not know it.
#pragma once

#include "script_call.hpp"

#include "../transport/link.hpp"

#include <boost/asio/awaitable.hpp>

namespace pawl::redis {

// `call` has the function `command`, and must outlive the operation. Throws as `link::exec` does.
template <class Call>
[[nodiscard]] boost::asio::awaitable<reply> run_script(link& server_link, const Call& call,
                                                       time_point give_up_at,
                                                       bool tracked = false) {
    script_call command = call.command();
    auto answer = co_await server_link.exec(command.words(), give_up_at, tracked);
    if (answer.type != reply::kind::error || !answer.text.starts_with("NOSCRIPT")) co_return answer;
    // The server executed nothing, so the same call may be sent again.
    command.send_text();
    co_return co_await server_link.exec(command.words(), give_up_at, tracked);
}

}  // namespace pawl::redis
