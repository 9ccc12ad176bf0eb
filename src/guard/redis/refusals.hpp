// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a server's refusal means, as the exception of Pawl.
#pragma once

#include <pawl/guard/redis.hpp>

#include <string_view>

namespace pawl::guard::redis {

// `key`, of the refused command, begins the message.
void throw_if_refused(const redis_reply& reply, std::string_view key);

// For a reply that no version of the server should send.
[[noreturn]] void throw_unexpected(std::string_view key, std::string_view reply_to);

}  // namespace pawl::guard::redis
