// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The grant of a request that found the lock free.
#pragma once

#include "calls/acquire_calls.hpp"
#include "core/util/spi.hpp"

#include <string>
#include <utility>

namespace pawl::redis::native {

// Needs no memory: an allocation could fail, and nothing would undo the grant any more.
[[nodiscard]] inline grant make_grant(const claim& requested, const acquire_reply& reply,
                                      std::string&& value, time_point sent_at) noexcept {
    grant result;
    result.deadline = sent_at + requested.ttl - drift(requested.ttl);
    result.token = reply.token;
    result.stored_value = std::move(value);
    return result;
}

}  // namespace pawl::redis::native
