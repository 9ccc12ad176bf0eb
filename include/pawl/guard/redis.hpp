// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Redis and Valkey for the layers behind a lock: a view of the caller's own connection.
// `hiredis_connection` and `boost_redis_connection` are ready; a class over another library derives
// from `redis_connection` and has one function. Standard headers only.
#pragma once

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error "Pawl needs C++20: compile with -std=c++20"
#endif

#include <cstdint>
#include <string>
#include <vector>

namespace pawl::guard {

// The name of a command and its arguments, as bytes.
using redis_command = std::vector<std::string>;

// A reply. Other types of RESP3 are mapped: a status, a double and a big number are bytes, a
// boolean is the integer 0 or 1, a set is an array, and a map is an array of keys and values in
// turn.
struct redis_reply {
    // nil is a missing value, error a refused command; the others are an integer, bytes, an array.
    enum class kind : std::uint8_t { nil, integer, bytes, error, array };
    kind type = kind::nil;
    std::int64_t integer = 0;          // of an integer
    std::string text{};                // the bytes, or the words of an error: "OOM command not …"
    std::vector<redis_reply> items{};  // of an array
};

// A view of the caller's connection, which must outlive it. Not thread-safe, as most connections
// are not. For a cluster, the connection must follow MOVED and ASK by itself.
class redis_connection {
public:
    virtual ~redis_connection() = default;
    // Sends one command and waits for its reply. An error of the server is a reply. Throws if no
    // answer came: then the server may have executed the command. Must not repeat a command by
    // itself, because a step would be counted twice.
    virtual redis_reply execute(const redis_command& command) = 0;
};

}  // namespace pawl::guard
