// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How a set began. Every member keeps the record, so that any client can complete the genesis.
#pragma once

#include "member_calls.hpp"

#include <pawl/types.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redlock {

struct genesis_record {
    std::int64_t seed = 0;              // of the tokens
    std::vector<std::string> nonces{};  // of each node
};

// "SEED NONCE …"
[[nodiscard]] std::string text_of(const genesis_record& record);
[[nodiscard]] genesis_record parse_genesis(std::string_view text);

// The installation of the first membership of a node. The set must outlive the call.
[[nodiscard]] install_call first_membership(const set_parameters& set, const genesis_record& record,
                                            std::size_t node, duration quarantine);

}  // namespace pawl::redlock
