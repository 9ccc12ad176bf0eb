// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The command that calls a script: keys and arguments in the order of the script's contract line.
#pragma once

#include "script.hpp"

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace pawl::redis {

// The keys and arguments must outlive the call.
class script_call {
public:
    script_call(const script& code, std::span<const std::string_view> keys,
                std::span<const std::string_view> arguments)
        : code_(&code), key_count_(keys.size()) {
        words_.reserve(first_key + keys.size() + arguments.size());
        words_.resize(first_key);
        words_.insert(words_.end(), keys.begin(), keys.end());
        words_.insert(words_.end(), arguments.begin(), arguments.end());
    }
    script_call(const script& code, std::initializer_list<std::string_view> keys,
                std::initializer_list<std::string_view> arguments)
        : script_call(code, std::span(keys.begin(), keys.size()),
                      std::span(arguments.begin(), arguments.size())) {}

    [[nodiscard]] const script& code() const noexcept { return *code_; }
    [[nodiscard]] std::span<const std::string_view> keys() const {
        return std::span(words_).subspan(first_key, key_count_);
    }
    [[nodiscard]] std::span<const std::string_view> arguments() const {
        return std::span(words_).subspan(first_key + key_count_);
    }
    // The whole command. The caller sets the first three words, which are empty: EVALSHA, digest,
    // number of keys.
    [[nodiscard]] std::span<std::string_view> words() noexcept { return words_; }

private:
    static constexpr std::size_t first_key = 3;

    const script* code_;
    std::size_t key_count_;
    std::vector<std::string_view> words_;
};

}  // namespace pawl::redis
