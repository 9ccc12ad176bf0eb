// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The calls of the scripts that inspect and change a lock from outside.
#pragma once

#include "../../common/keys.hpp"
#include "../../scripting/script_call.hpp"
#include "../../scripting/server_words.hpp"
#include "../../transport/link.hpp"

#include <pawl/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis::native {

// Other programs may have written the data: texts are unchecked, and a number is 0 if it cannot be
// parsed.
struct inspect_reply {
    struct lease {
        std::string_view owner;
        std::int64_t ends_at_ms = 0;
    };
    struct detail {
        std::string_view field;
        std::string_view text;
    };
    std::optional<std::string_view> value{};
    std::int64_t left_ms = 0;  // negative: no end
    fencing_token token{};     // the last one given
    std::uint64_t waiters = 0;
    std::vector<lease> leases{};  // of non-exclusive holders
    std::vector<detail> details{};
    std::int64_t server_ms = 0;
};

// inspect.lua
struct inspect_call {
    const keys& lock_keys;

    [[nodiscard]] script_call command(const server_words& words) const;
    // The result refers to the reply.
    [[nodiscard]] inspect_reply read(const reply& from) const;
};

// force_release.lua
struct force_release_call {
    const keys& lock_keys;
    std::string expected{};        // the token that a holder must have; empty: any holder
    bool is_shared_with_others{};  // other libraries' holds have no token

    [[nodiscard]] script_call command(const server_words& words) const;
    // False: nothing was released.
    [[nodiscard]] bool read(const reply& from) const;
};

// resize.lua
struct resize_call {
    const keys& lock_keys;
    std::string total_permits;

    [[nodiscard]] script_call command(const server_words& words) const;
    void read(const reply& from) const;
};

}  // namespace pawl::redis::native
