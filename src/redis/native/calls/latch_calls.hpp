// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The calls of the scripts of the native layout's latches.
#pragma once

#include "../../scripting/script_call.hpp"
#include "../../scripting/server_words.hpp"
#include "../../transport/link.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::redis::native {

// The common part of the requests that change a latch once. By the server's clock, `limit_ms` is
// the last time at which the request may be executed, and `since_ms` the first at which it can have
// been sent.
struct latch_request {
    std::string_view latch_key;
    std::string_view request_key;
    std::string limit_ms{};
    std::string since_ms{};
    std::string_view channel{};
};

// The server did nothing, because the request came too late. `server_ms` is the server's clock.
struct late_reply {
    std::int64_t server_ms = 0;
};

// latch_set.lua
struct latch_set_call {
    latch_request request;
    std::string count;
    std::string ttl_ms;

    [[nodiscard]] script_call command(const server_words& words) const;
    [[nodiscard]] std::optional<late_reply> read_late(const reply& from) const;
    // False: a generation is counting.
    [[nodiscard]] bool read(const reply& from) const;
};

struct latch_down_reply {
    bool is_known = false;
    std::optional<std::uint64_t> other_parties{};  // the barrier's different number of parties
    std::uint64_t generation = 0;
    std::uint64_t left = 0;
};

// latch_down.lua
struct latch_down_call {
    latch_request request;
    std::string steps;
    std::string parties;  // "0": a latch
    std::string ttl_ms;

    [[nodiscard]] script_call command(const server_words& words) const;
    [[nodiscard]] std::optional<late_reply> read_late(const reply& from) const;
    [[nodiscard]] latch_down_reply read(const reply& from) const;
};

struct latch_inspect_reply {
    std::uint64_t count = 0;
    std::uint64_t generation = 0;
    std::uint64_t first_generation = 0;
    std::uint32_t parties = 0;
    std::int64_t left_ms = 0;
};

// latch_inspect.lua
struct latch_inspect_call {
    std::string_view latch_key;

    [[nodiscard]] script_call command(const server_words& words) const;
    // Nothing if there is no latch.
    [[nodiscard]] std::optional<latch_inspect_reply> read(const reply& from) const;
};

// latch_reset.lua
struct latch_reset_call {
    std::string_view latch_key;
    std::string_view channel;

    [[nodiscard]] script_call command(const server_words& words) const;
    // False: there was no latch.
    [[nodiscard]] bool read(const reply& from) const;
};

}  // namespace pawl::redis::native
