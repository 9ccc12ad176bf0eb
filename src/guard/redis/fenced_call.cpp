// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "keys.hpp"
#include "refusals.hpp"
#include "script_call.hpp"

#include <guard/token_number.hpp>
#include <guard_redis_scripts.hpp>
#include <pawl/error.hpp>
#include <pawl/guard/async_redis_fence.hpp>

#include <limits>
#include <string>
#include <utility>

namespace pawl::guard {
namespace redis {
namespace {

constexpr std::size_t most_words = 7000;  // of a command: Lua's stack has 8000 places

script_call fenced_call(std::string_view resource, fencing_token token,
                        const std::vector<redis_command>& commands) {
    const std::string name(resource);
    if (!token)
        throw error(errc::bad_option, name +
                                          ": the token is 0, so nothing can be fenced; acquire "
                                          "the lock with the option fenced.");
    if (token.value() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        throw error(errc::bad_option, name +
                                          ": the token has more than 63 bits; pass the token of "
                                          "a lock or of an attempt.");
    script_call call{scripts::fenced, {companion_key(resource, "fence"), name}, {to_string(token)}};
    for (const redis_command& each : commands) {
        if (each.empty() || each.size() > most_words)
            throw error(errc::bad_option, name + ": a command has " + std::to_string(each.size()) +
                                              " words; it must have 1 to 7000.");
        call.arguments.push_back(std::to_string(each.size()));
        call.arguments.insert(call.arguments.end(), each.begin(), each.end());
    }
    return call;
}

fencing_token read_token(const std::string& digits, const std::string& key) {
    const auto token = parse_token(digits);
    if (!token) throw_unexpected(key, "the script fenced");
    return *token;
}

fenced_replies read_replies(redis_reply reply, fencing_token token, const std::string& key) {
    const std::string verdict = reply.items.empty() ? "" : reply.items.front().text;
    if (verdict == "refused" && reply.items.size() == 2)
        return {.accepted = false, .newest = read_token(reply.items[1].text, key)};
    if (verdict != "accepted") throw_unexpected(key, "the script fenced");
    fenced_replies result{.accepted = true, .newest = token};
    for (std::size_t i = 1; i < reply.items.size(); ++i) {
        std::vector<redis_reply>& parts = reply.items[i].items;
        if (parts.size() != 2) throw_unexpected(key, "the script fenced");
        if (parts[0].text == "error") parts[1].type = redis_reply::kind::error;
        result.replies.push_back(std::move(parts[1]));
    }
    return result;
}

}  // namespace
}  // namespace redis

fenced_replies fenced(redis_connection& server, std::string_view resource, fencing_token token,
                      const std::vector<redis_command>& commands) {
    const auto call = redis::fenced_call(resource, token, commands);
    return redis::read_replies(redis::run(server, call), token, call.keys.front());
}

boost::asio::awaitable<fenced_replies> async_fenced(async_redis_connection& server,
                                                    std::string resource, fencing_token token,
                                                    std::vector<redis_command> commands) {
    const auto call = redis::fenced_call(resource, token, commands);
    auto reply = co_await redis::run(server, call);
    co_return redis::read_replies(std::move(reply), token, call.keys.front());
}

}  // namespace pawl::guard
