// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The common part of the calls of renewal scripts: renewals of a batch, and a result for each.
#pragma once

#include "../scripting/script_call.hpp"
#include "../scripting/server_words.hpp"
#include "../transport/link.hpp"
#include "core/util/spi.hpp"

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::redis {

class renewal_call {
public:
    [[nodiscard]] const script& code() const noexcept { return code_; }
    [[nodiscard]] script_call command(const server_words&) const {
        return {code_, keys_, arguments_};
    }
    // The outcome for each hold, in the order in which they were added.
    [[nodiscard]] std::vector<renewal::outcome> read(const reply& from) const;

protected:
    // For at most `count` holds.
    renewal_call(const script& code, std::size_t count);

    // The keys and arguments must outlive the call, except for a text that `store_text` stores.
    void add_hold(std::initializer_list<std::string_view> keys,
                  std::initializer_list<std::string_view> arguments);
    std::string_view store_text(std::string ttl_ms) {
        return ttls_.emplace_back(std::move(ttl_ms));
    }

private:
    const script& code_;
    std::size_t size_ = 0;
    std::vector<std::string_view> keys_;
    std::vector<std::string_view> arguments_;
    std::vector<std::string> ttls_;  // never reallocated, since views point into it
};

}  // namespace pawl::redis
