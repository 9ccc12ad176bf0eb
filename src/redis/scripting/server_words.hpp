// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The arguments of a script that depend on the server that executes it.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pawl::redis {

// A script's argument that needs no memory of its own.
// Three numbers, 16 digits and three spaces fit. What does not fit is cut off.
class short_text {
public:
    short_text() = default;
    explicit short_text(std::string_view text) noexcept { *this += text; }

    short_text& operator+=(std::string_view text) noexcept {
        const auto count = std::min(text.size(), characters_.size() - size_);
        std::copy_n(text.data(), count, characters_.data() + size_);
        size_ += count;
        return *this;
    }
    short_text& operator+=(std::int64_t number) noexcept {
        auto* const end = characters_.data() + characters_.size();
        const auto written = std::to_chars(characters_.data() + size_, end, number);
        size_ = static_cast<std::size_t>(written.ptr - characters_.data());
        return *this;
    }
    // NOLINTNEXTLINE(google-explicit-constructor): used like a std::string
    operator std::string_view() const noexcept { return {characters_.data(), size_}; }

private:
    std::array<char, 78> characters_{};
    std::size_t size_ = 0;
};

// The views must outlive the request.
struct server_words {
    std::string_view publish_command;  // PUBLISH or SPUBLISH
    std::string_view count_command;    // of PUBSUB: NUMSUB or SHARDNUMSUB
    // Of the clients' own channels: a client's id follows.
    std::string_view channel_prefix{};
    // "FLOOR KEEP_MS [REPLICATION]" for _token.lua.
    short_text token_floor{};
    // Tells this run of the server from its other runs. Empty in a cluster, where the replication
    // id does.
    short_text run{};
};

}  // namespace pawl::redis
