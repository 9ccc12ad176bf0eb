// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The error for a key of Pawl's that holds another type.
#pragma once

#include "../common/keys.hpp"
#include "../topology/topology.hpp"

#include <array>
#include <span>
#include <string_view>

namespace pawl::redis::native {

struct typed_key {
    std::string_view key;
    std::string_view type;     // the expected result of TYPE
    std::string_view purpose;  // the purpose of the key in Pawl, for the message
};

[[nodiscard]] std::array<typed_key, 6> typed_keys_of(const keys& lock_keys) noexcept;

// If the reply is an error, throws the matching error for the first of these keys. For WRONGTYPE,
// asks the server which key has another type, and names that key. Otherwise sends no request.
boost::asio::awaitable<void> throw_if_key_error(topology& servers, const reply& reply,
                                                std::span<const typed_key> keys,
                                                time_point give_up_at);

}  // namespace pawl::redis::native
