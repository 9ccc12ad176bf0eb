// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The keys of locks, and the value of a lock's key.
//
// A key is NAMESPACE/NAME/.lock, as that of `consul lock`. A name is bytes, but a key is text in
// UTF-8, and Consul's HTTP API cannot read a key that is no clean path. So some bytes of a name are
// percent-encoded in the key: '%' itself, what is not UTF-8, and slashes and dots that would make
// an empty part, "." or "..".
#pragma once

#include "../core/util/spi.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::consul {

// The flags of the keys of `consul lock`, and of its semaphores (`consul lock -n`).
inline constexpr std::uint64_t lock_flags = 0x2ddccbc058a50c18;
inline constexpr std::uint64_t semaphore_flags = 0xe0f69a2baa414de0;

// The part of a key that has the name.
[[nodiscard]] std::string encode_name(std::string_view name);
// Empty for a text that `encode_name` never returns.
[[nodiscard]] std::optional<std::string> decode_name(std::string_view encoded);
// A beginning that all encoded names with this beginning have in common.
[[nodiscard]] std::string encode_prefix(std::string_view prefix);

// The keys of one namespace.
class key_scheme {
public:
    explicit key_scheme(std::string_view name_space) : prefix_(std::string(name_space) + '/') {}

    [[nodiscard]] std::string lock_key(std::string_view name) const {
        return prefix_ + encode_name(name) + "/.lock";
    }
    // Empty: the key is not that of a lock of the namespace.
    [[nodiscard]] std::optional<std::string> name_in(std::string_view key) const;
    // Where the locks are whose names begin with `prefix`, and maybe others.
    [[nodiscard]] std::string list_key(std::string_view prefix) const {
        return prefix_ + encode_prefix(prefix);
    }
    // Only clients change it, when they undo an attempt: see lock_client.hpp.
    [[nodiscard]] std::string guard_key(std::string_view session) const {
        return prefix_ + ".guard/" + std::string(session);
    }

private:
    const std::string prefix_;
};

// The value of a lock's key, as JSON. `since_ms`: the begin of the hold, in ms since 1970.
[[nodiscard]] std::string make_value(const std::string& owner, const identity& process,
                                     std::int64_t since_ms);
// The owner in a value; empty if Pawl has not written it.
[[nodiscard]] std::string owner_in(std::string_view value);
// Of a value that Pawl has not written, nothing.
[[nodiscard]] holder parse_value(std::string_view value);

}  // namespace pawl::consul
