// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A client's own channel on a server with a channel tag: see session::channel_tag.
#pragma once

#include <string>
#include <string_view>

namespace pawl::redis {

// The prefix of all clients' channels, which ends in a colon, with the tag.
[[nodiscard]] inline std::string tagged_prefix(std::string_view prefix, std::string_view tag) {
    return std::string(prefix) + std::string(tag) + ":";
}

// PREFIX:CLIENT becomes PREFIX:TAG:CLIENT.
[[nodiscard]] inline std::string tagged_channel(std::string_view channel, std::string_view tag) {
    const auto prefix_size = channel.rfind(':') + 1;
    return tagged_prefix(channel.substr(0, prefix_size), tag) +
           std::string(channel.substr(prefix_size));
}

}  // namespace pawl::redis
