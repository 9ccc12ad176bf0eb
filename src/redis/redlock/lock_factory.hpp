// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the nodes are told about a lock: its keys, and the value of a hold.
#pragma once

#include "calls.hpp"
#include "core/util/spi.hpp"

#include "../common/keys.hpp"

#include <string>
#include <string_view>

namespace pawl::redlock {

// The scheme, the layout and the time must outlive it.
class lock_factory {
public:
    // `prefix_without_owner` is what follows the owner in a value's prefix.
    lock_factory(const redis::key_scheme& scheme, const node_layout& layout,
                 std::string prefix_without_owner, const runtime& time);

    [[nodiscard]] requested_lock make_lock(const claim& wanted, std::string_view owner) const;
    [[nodiscard]] requested_lock lock_of(const hold& held) const;
    [[nodiscard]] requested_lock lock_with(std::string_view name, std::string value,
                                           lock_mode mode = lock_mode::exclusive) const;

private:
    const redis::key_scheme& scheme_;
    const node_layout& layout_;
    const std::string prefix_without_owner_;
    const runtime& time_;
};

}  // namespace pawl::redlock
