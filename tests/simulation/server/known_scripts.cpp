// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "known_scripts.hpp"

#include <redis_scripts.hpp>
#include <redisson_scripts.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <vector>

namespace pawl::simulation {
namespace {

// The names of Redisson's scripts, which must live as long as the scripts.
const std::vector<std::string>& redisson_names() {
    static const auto names = [] {
        std::vector<std::string> result;
        for (const auto& each : redis::redisson::scripts::all)
            result.push_back("redisson/" + std::string(each.name));
        return result;
    }();
    return names;
}

constexpr std::array scripts_to_undo{&redis::scripts::acquire,
                                     &redis::scripts::acquire_any_mode,
                                     &redis::scripts::acquire_batch,
                                     &redis::redisson::scripts::acquire,
                                     &redis::redisson::scripts::fair_acquire,
                                     &redis::redisson::scripts::read_acquire,
                                     &redis::redisson::scripts::write_acquire};

}  // namespace

std::span<const known_script> known_scripts() noexcept {
    static const auto all = [] {
        std::vector<known_script> result;
        auto name = redisson_names().begin();
        for (const auto& each : redis::redisson::scripts::all)
            result.push_back({*name++, &each});
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

bool can_need_undo(std::string_view digest_or_text) noexcept {
    return std::ranges::any_of(scripts_to_undo, [&](const redis::script* each) {
        return digest_or_text == each->sha1 || digest_or_text == each->text;
    });
}

}  // namespace pawl::simulation
