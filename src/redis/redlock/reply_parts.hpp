// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The parts that the replies of many scripts have in common.
#pragma once

#include "membership.hpp"

#include "../scripting/reply_reader.hpp"

#include <cstddef>

namespace pawl::redlock {

// Why a node does not vote, if its reply says so.
[[nodiscard]] standing_reply standing_of(const redis::reply_reader& from);
// The incarnation and the vector, which begin at `first`. The caller adds the nonce.
[[nodiscard]] membership_state member_of(const redis::reply_reader& from, std::size_t first);

}  // namespace pawl::redlock
