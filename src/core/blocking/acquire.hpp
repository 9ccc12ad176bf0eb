// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The functions behind the objects of the sync API. They use the loop, which stays in place when
// its client is moved.
#pragma once

#include "../engine/acquire.hpp"
#include "access.hpp"
#include "blocking_wait.hpp"

#include <pawl/blocking/client.hpp>

#include <memory>
#include <stop_token>
#include <utility>

namespace pawl::blocking {

// Runs an acquire of the engine while the caller waits: a held_lock for one lock, held_locks for
// several. Throws as run_blocking.
template <class Acquired>
auto run_acquire(const std::shared_ptr<loop>& loop, boost::asio::awaitable<Acquired> acquire,
                 const std::stop_token& cancel = {}) {
    auto acquired = run_blocking(*loop, std::move(acquire), cancel);
    return access::make(std::move(acquired), loop);
}

// As held_lock's functions of the same names.
void renew(const std::shared_ptr<loop>& loop, const std::shared_ptr<core::lease>& lease);
void downgrade(const std::shared_ptr<loop>& loop, const std::shared_ptr<core::lease>& lease);

}  // namespace pawl::blocking
