// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The calls of the scripts that release, extend or downgrade a hold.
#pragma once

#include "../../common/keys.hpp"
#include "../../common/renewal_call.hpp"
#include "../../scripting/script_call.hpp"
#include "../../scripting/server_words.hpp"
#include "../../transport/link.hpp"
#include "core/util/spi.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace pawl::redis::native {

struct release_reply {
    release_result result = release_result::unknown;
    std::optional<fencing_token>
        successor_token{};  // set if the lock was handed to the named successor
};

// release.lua
struct release_call {
    const keys& lock_keys;
    std::string_view value;
    std::string_view successor;  // empty: none
    std::string_view successor_value;
    std::string_view successor_ttl_ms;
    bool queue_first = false;

    [[nodiscard]] script_call command(const server_words& words) const;
    [[nodiscard]] release_reply read(const reply& from) const;
};

// release_non_exclusive.lua
struct release_non_exclusive_call {
    const keys& lock_keys;
    std::string_view value;

    [[nodiscard]] script_call command(const server_words& words) const;
    [[nodiscard]] release_reply read(const reply& from) const;
};

// renew.lua
class renew_call : public renewal_call {
public:
    explicit renew_call(std::size_t count);
    void add(const keys& lock_keys, std::string_view value, std::string ttl_ms);
};

// renew_non_exclusive.lua
class renew_non_exclusive_call : public renewal_call {
public:
    explicit renew_non_exclusive_call(std::size_t count);
    void add(const keys& lock_keys, std::string_view value, std::string ttl_ms);
};

// downgrade.lua
struct downgrade_call {
    const keys& lock_keys;
    std::string_view value;
    std::string ttl_ms;
    std::string token;

    [[nodiscard]] script_call command(const server_words& words) const;
    // False: the caller does not hold the lock.
    [[nodiscard]] bool read(const reply& from) const;
};

}  // namespace pawl::redis::native
