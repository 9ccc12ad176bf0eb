// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <guard/redis/script.hpp>

#include <guard_redis_scripts.hpp>
#include <pawl/error.hpp>
#include <pawl/guard/redis_once.hpp>

#include <utility>

namespace pawl::guard {
namespace {

constexpr std::size_t most_words = 7000;  // Lua's stack has 8000 places

// The script of an effect, with the effect's text in the place of the line that stands for it.
std::string with_effect(const std::string& effect) {
    static constexpr std::string_view line = "return \"the effect\"";
    std::string text(redis::scripts::once_effect.text);
    return text.replace(text.find(line), line.size(), effect);
}

}  // namespace

redis_effect::redis_effect(std::string text, std::size_t key_count)
    : base_(with_effect(text), key_count) {}

effect_call redis_effect::operator()(std::vector<std::string> keys,
                                     const std::vector<script_argument>& arguments) const {
    if (keys.size() != base_.key_count)
        throw error(errc::bad_option, "The effect has " + std::to_string(base_.key_count) +
                                          " keys, and this call names " +
                                          std::to_string(keys.size()) +
                                          "; name each key of the effect once.");
    if (keys.size() > most_words || arguments.size() > most_words)
        throw error(errc::bad_option, "The effect has " + std::to_string(keys.size()) +
                                          " keys and " + std::to_string(arguments.size()) +
                                          " arguments; each may be up to 7000.");
    return {.effect = this, .keys = std::move(keys), .arguments = script<void>::texts(arguments)};
}

}  // namespace pawl::guard
