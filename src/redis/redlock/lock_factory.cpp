// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_factory.hpp"

#include "../common/values.hpp"

#include <chrono>
#include <utility>

namespace pawl::redlock {

lock_factory::lock_factory(const redis::key_scheme& scheme, const node_layout& layout,
                           std::string prefix_without_owner, const runtime& time)
    : scheme_(scheme),
      layout_(layout),
      prefix_without_owner_(std::move(prefix_without_owner)),
      time_(time) {}

requested_lock lock_factory::make_lock(const claim& wanted, std::string_view owner) const {
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(
        time_.wall_clock().time_since_epoch());
    return lock_with(wanted.name,
                     redis::make_value(std::string(owner) + prefix_without_owner_, since.count()),
                     wanted.mode);
}

requested_lock lock_factory::lock_of(const hold& held) const {
    return lock_with(held.claim.name, held.grant.stored_value, held.claim.mode);
}

requested_lock lock_factory::lock_with(std::string_view name, std::string value,
                                       lock_mode mode) const {
    return {.name = std::string(name),
            .keys = scheme_.keys_of(name),
            .value = std::move(value),
            .channel = layout_.channel_of(name),
            .mode = mode};
}

}  // namespace pawl::redlock
