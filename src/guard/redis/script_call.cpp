// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "script_call.hpp"

#include "refusals.hpp"

namespace pawl::guard::redis {
namespace {

// The server has executed nothing, so the text may follow.
bool is_unknown_script(const redis_reply& reply) {
    return reply.type == redis_reply::kind::error && reply.text.starts_with("NOSCRIPT");
}

}  // namespace

redis_command script_call::command(const char* name, std::string_view body) const {
    redis_command words{name, std::string(body), std::to_string(keys.size())};
    words.insert(words.end(), keys.begin(), keys.end());
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
}

redis_reply run(redis_connection& server, const script_call& call) {
    redis_reply reply = server.execute(call.by_digest());
    if (is_unknown_script(reply)) reply = server.execute(call.by_text());
    throw_if_refused(reply, call.subject());
    return reply;
}

boost::asio::awaitable<redis_reply> run(async_redis_connection& server, const script_call& call) {
    const redis_command by_digest = call.by_digest();
    redis_reply reply = co_await server.execute(by_digest);
    if (is_unknown_script(reply)) {
        const redis_command by_text = call.by_text();
        reply = co_await server.execute(by_text);
    }
    throw_if_refused(reply, call.subject());
    co_return reply;
}

}  // namespace pawl::guard::redis
