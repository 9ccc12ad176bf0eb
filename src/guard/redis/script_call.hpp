// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One call of a script: by its digest, and once more by its text if the server does not know it.
#pragma once

#include "script.hpp"

#include <pawl/guard/async_redis.hpp>
#include <pawl/guard/redis.hpp>

#include <string>
#include <vector>

namespace pawl::guard::redis {

// Keys and arguments in the order of the script's contract line. The script must outlive the call.
struct script_call {
    const script& code;
    std::vector<std::string> keys;
    std::vector<std::string> arguments{};

    [[nodiscard]] redis_command by_digest() const { return command("EVALSHA", code.sha1); }
    [[nodiscard]] redis_command by_text() const { return command("EVAL", code.text); }
    // The beginning of error messages.
    [[nodiscard]] std::string_view subject() const {
        return keys.empty() ? std::string_view("Redis") : keys.front();
    }

private:
    [[nodiscard]] redis_command command(const char* name, std::string_view body) const;
};

// The reply, which is no error: refusals are thrown as a pawl::error that begins with the first
// key.
[[nodiscard]] redis_reply run(redis_connection& server, const script_call& call);
// The call must outlive the operation.
[[nodiscard]] boost::asio::awaitable<redis_reply> run(async_redis_connection& server,
                                                      const script_call& call);

}  // namespace pawl::guard::redis
