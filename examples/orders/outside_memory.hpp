// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the outside knows: the effects of its log, by key and by resource.
#pragma once

#include "partner.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace shop {

struct effect {
    std::string key;  // empty: none
    std::string resource;
    std::uint64_t token = 0;  // 0: none
    std::string body;
};

// Not thread-safe.
class outside_memory {
public:
    // Reads the log, if there is one. Throws std::runtime_error if it cannot be opened.
    explicit outside_memory(const std::string& log);
    ~outside_memory();
    outside_memory(const outside_memory&) = delete;
    outside_memory& operator=(const outside_memory&) = delete;

    // Carries the effect out, unless it is a repetition or stale. `is_first`: it was carried out,
    // and is the first of its resource.
    answer apply(const effect& wanted, bool& is_first);

private:
    void remember(const effect& done);

    int log_;
    std::map<std::string, std::string> answers_;          // by key
    std::map<std::string, std::uint64_t> newest_tokens_;  // by resource
};

}  // namespace shop
