// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A database or a namespace of the server. The same name in two key spaces is two different locks
// or latches.
#pragma once

#include <pawl/redis.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace pawl::simulation {

struct key_space {
    redis::options options;
    std::string label;  // "", "/1", "@other"

    // The checker's name, which is unique over all key spaces.
    [[nodiscard]] std::string checker_name(std::string_view name) const {
        return std::string(name) + label;
    }
    [[nodiscard]] std::vector<std::string> checker_name(
        const std::vector<std::string>& names) const {
        std::vector<std::string> result;
        for (const auto& name : names)
            result.push_back(checker_name(name));
        return result;
    }
    // Redisson has databases but no namespaces.
    [[nodiscard]] std::string redisson_label() const {
        return "/" + std::to_string(options.database) + " of Redisson";
    }
    [[nodiscard]] redis::options redisson_options() const {
        redis::options result;
        result.layout = redis::key_layout::redisson;
        result.database = options.database;
        result.reply_timeout = options.reply_timeout;
        result.connect_timeout = options.connect_timeout;
        return result;
    }
};

}  // namespace pawl::simulation
