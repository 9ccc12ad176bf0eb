// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "keys.hpp"

#include <pawl/error.hpp>

namespace pawl::guard::redis {
namespace {

// As the specification of Redis Cluster defines it: from the first { to the first } behind it.
bool has_hash_tag(std::string_view key) {
    const auto opened = key.find('{');
    if (opened == std::string_view::npos) return false;
    const auto closed = key.find('}', opened);
    return closed != std::string_view::npos && closed > opened + 1;
}

}  // namespace

std::string companion_key(std::string_view key, std::string_view suffix) {
    if (key.empty()) throw error(errc::bad_name, "The key is empty; a key has 1 byte or more.");
    const std::string text(key);
    if (has_hash_tag(key)) return text + "::" + std::string(suffix);
    if (key.find('}') != std::string_view::npos)
        throw error(errc::bad_name, text +
                                        ": a key with a } needs a hash tag, such as {order-7}, "
                                        "for the keys beside it.");
    return "{" + text + "}:" + std::string(suffix);
}

}  // namespace pawl::guard::redis
