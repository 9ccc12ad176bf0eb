// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The caller's own Lua scripts in Redis and Valkey, with a typed result. Standard headers only.
#pragma once

#include <pawl/guard/detail/script_base.hpp>
#include <pawl/guard/redis.hpp>

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::guard {

// An argument of a script: bytes, or an integer as its decimal digits. Lua computes with doubles,
// so a script compares and stores integers above 2^53 as strings, and adds them with INCRBY.
struct script_argument {
    // From bytes, and from any integer.
    // NOLINTBEGIN(google-explicit-constructor): an argument is written like a value
    script_argument(std::string bytes) : text(std::move(bytes)) {}
    script_argument(std::string_view bytes) : text(bytes) {}
    script_argument(const char* bytes) : text(bytes) {}
    template <std::integral Integer>
    script_argument(Integer number) : text(std::to_string(number)) {}
    // NOLINTEND(google-explicit-constructor)

    std::string text;  // as it is sent
};

// A script is atomic: nothing else runs in between. But it is not rolled back: if a command fails,
// those before it stay. It may use the keys of the call only, and in a cluster all of them need one
// hash tag, such as {order-7}:stock and {order-7}:buyers.
//
// The result is read from the reply: void, bool (1, or 0 and Lua's false), std::int64_t,
// std::string, redis_reply; std::optional of them for Lua's false; std::vector and std::tuple of
// them for a table. An integer is accepted as an integer up to 2^53 and as a string of digits:
// return larger ones as strings, because Lua rounds them. An object is made once and may be used by
// several threads.
template <class Result>
class script {
public:
    // The text, and the number of keys that each call must name.
    script(std::string text, std::size_t key_count) : base_(std::move(text), key_count) {}

    // Calls the script by its digest, and sends the text if the server does not know it. Throws
    // pawl::error: bad_option for another number of keys, before anything is sent, and for keys in
    // different slots; protocol for a reply of another type, and for an error of the script; and as
    // `counters` otherwise. If no answer comes, the script may have run.
    Result run(redis_connection& server, std::vector<std::string> keys,
               const std::vector<script_argument>& arguments = {}) const {
        const std::string subject = keys.empty() ? "Redis" : keys.front();
        const auto reply = base_.run(server, std::move(keys), texts(arguments));
        return detail::read_reply<Result>(detail::reply_item(reply, subject));
    }

    // For `async_run`.
    [[nodiscard]] const detail::script_base& base() const noexcept { return base_; }
    // The arguments as they are sent.
    static std::vector<std::string> texts(const std::vector<script_argument>& arguments) {
        std::vector<std::string> result;
        for (const script_argument& each : arguments)
            result.push_back(each.text);
        return result;
    }

private:
    detail::script_base base_;
};

}  // namespace pawl::guard
