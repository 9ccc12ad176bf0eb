// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The library's access to the private parts of the async API's handles.
#pragma once

#include "../lease/lease.hpp"

#include <pawl/held_lock.hpp>
#include <pawl/held_locks.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace pawl::core {

struct access {
    [[nodiscard]] static held_lock make(lease_handle acquired) noexcept {
        return held_lock(std::move(acquired.held_lease), acquired.number);
    }
    [[nodiscard]] static held_locks make(std::vector<lease_handle> acquired) {
        std::vector<held_lock> locks;
        locks.reserve(acquired.size());
        for (auto& each : acquired)
            locks.push_back(make(std::move(each)));
        return make(std::move(locks));
    }
    [[nodiscard]] static held_locks make(std::vector<held_lock> locks) {
        return locks.empty() ? held_locks() : held_locks(std::move(locks));
    }
    [[nodiscard]] static handle_id id(const detail::held_lock_base& handle) noexcept {
        return {handle.lease_, handle.number_};
    }
};

}  // namespace pawl::core
