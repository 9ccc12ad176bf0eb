// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The command that calls a script: keys and arguments in the order of the script's contract line.
#pragma once

#include "../transport/link.hpp"
#include "failed_command.hpp"
#include "script.hpp"
#include "server_words.hpp"

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>

namespace pawl::redis {

// The keys and arguments must outlive the call.
class script_call {
public:
    script_call(const script& code, std::span<const std::string_view> keys,
                std::span<const std::string_view> arguments)
        : code_(code), key_count_(keys.size()) {
        key_count_text_ += static_cast<std::int64_t>(key_count_);
        words_.reserve(first_key + keys.size() + arguments.size());
        words_.push_back("EVALSHA");
        words_.push_back(code_.sha1);
        words_.push_back(key_count_text_);
        words_.insert(words_.end(), keys.begin(), keys.end());
        words_.insert(words_.end(), arguments.begin(), arguments.end());
    }
    script_call(const script& code, std::initializer_list<std::string_view> keys,
                std::initializer_list<std::string_view> arguments)
        : script_call(code, std::span(keys.begin(), keys.size()),
                      std::span(arguments.begin(), arguments.size())) {}
    script_call(script_call&& other) noexcept
        : code_(other.code_),
          key_count_(other.key_count_),
          key_count_text_(other.key_count_text_),
          words_(std::move(other.words_)) {
        words_[2] = key_count_text_;
    }
    script_call& operator=(const script_call&) = delete;

    [[nodiscard]] const script& code() const noexcept { return code_; }
    [[nodiscard]] std::span<const std::string_view> keys() const {
        return words().subspan(first_key, key_count_);
    }
    [[nodiscard]] std::span<const std::string_view> arguments() const {
        return words().subspan(first_key + key_count_);
    }
    // The whole command: EVALSHA with the script's digest, or after `send_text`, EVAL with its
    // text.
    [[nodiscard]] std::span<const std::string_view> words() const noexcept {
        return {words_.data(), words_.size()};
    }
    // For a server that does not know the digest.
    void send_text() noexcept {
        words_[0] = "EVAL";
        words_[1] = code_.text;
    }

    // Names the command of the script that the server has refused. True: the server does not know
    // the digest and executed nothing, so the text must be sent.
    [[nodiscard]] bool must_repeat(reply& received) const {
        const bool is_unknown =
            received.type == reply::kind::error && received.text.starts_with("NOSCRIPT");
        name_failed_command(received, code_);
        return is_unknown && words_[0] == "EVALSHA";
    }

private:
    static constexpr std::size_t first_key = 3;

    const script& code_;
    std::size_t key_count_;
    short_text key_count_text_;
    // Most commands fit without an allocation.
    boost::container::small_vector<std::string_view, 16> words_;
};

}  // namespace pawl::redis
