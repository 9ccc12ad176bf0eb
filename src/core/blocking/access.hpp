// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The library's access to the private parts of the sync API's handles and clients.
#pragma once

#include "../lease/lease.hpp"
#include "loop.hpp"

#include <pawl/blocking/client.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace pawl::blocking {

struct access {
    [[nodiscard]] static held_lock make(core::lease_handle acquired,
                                        std::shared_ptr<loop> loop) noexcept {
        return {std::move(acquired.held_lease), acquired.number, std::move(loop)};
    }
    [[nodiscard]] static held_locks make(std::vector<core::lease_handle> acquired,
                                         const std::shared_ptr<loop>& loop) {
        std::vector<held_lock> locks;
        locks.reserve(acquired.size());
        for (auto& each : acquired)
            locks.push_back(make(std::move(each), loop));
        return locks.empty() ? held_locks() : held_locks(std::move(locks));
    }
    [[nodiscard]] static const std::shared_ptr<core::lease>& lease(const held_lock& handle) {
        return handle.lease_;
    }
    [[nodiscard]] static const std::shared_ptr<loop>& loop_of(const client& client) noexcept {
        return client.loop_;
    }
};

}  // namespace pawl::blocking
