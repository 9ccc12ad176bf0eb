// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The names that the programs of a scenario use, their key spaces, and their keys.
#pragma once

#include "plan.hpp"

#include <pawl/redis.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::simulation {

// The keys of a lock, in either layout.
struct lock_keys {
    std::string lock, fence, queue, waiters, holders, details;

    [[nodiscard]] std::array<std::string_view, 6> all() const noexcept {
        return {lock, fence, queue, waiters, holders, details};
    }
};

// A database or a namespace of the server. The same name in two key spaces is two different locks
// or latches.
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

// The names that the programs of a scenario use, their key spaces, and their keys.
[[nodiscard]] std::vector<key_space> key_spaces_of(const plan& scenario_plan);
[[nodiscard]] std::vector<std::string> names_of(const plan& scenario_plan);
// In Redisson's layout, the keys with the most similar content.
[[nodiscard]] lock_keys keys_in(const key_space& space, std::string_view name);

}  // namespace pawl::simulation
