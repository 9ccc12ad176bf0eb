// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "known_scripts.hpp"

#include <redis_scripts.hpp>
#include <redisson_scripts.hpp>

#include <array>
#include <unordered_map>
#include <vector>

namespace pawl::simulation {
namespace {

// The simulation has latches only of Redisson's layout.
constexpr std::array redisson_scripts{
    known_script{"redisson/latch_set", &redis::redisson::scripts::latch_set},
    known_script{"redisson/latch_down", &redis::redisson::scripts::latch_down},
    known_script{"redisson/latch_reset", &redis::redisson::scripts::latch_reset},
};

}  // namespace

std::span<const known_script> known_scripts() noexcept {
    static const auto all = [] {
        std::vector<known_script> result(redisson_scripts.begin(), redisson_scripts.end());
        for (const auto& each : redis::scripts::all)
            result.push_back({each.name, &each});
        return result;
    }();
    return all;
}

const known_script* find_script(std::string_view digest_or_text) noexcept {
    static const auto by_digest_or_text = [] {
        std::unordered_map<std::string_view, const known_script*> result;
        for (const auto& each : known_scripts()) {
            result.emplace(each.code->sha1, &each);
            result.emplace(each.code->text, &each);
        }
        return result;
    }();
    const auto it = by_digest_or_text.find(digest_or_text);
    return it == by_digest_or_text.end() ? nullptr : it->second;
}

}  // namespace pawl::simulation
