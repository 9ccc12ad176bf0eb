// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The functions behind the objects of the sync API. They use the loop, which stays in place when
// its client is moved.
#pragma once

#include "../engine/acquire.hpp"
#include "access.hpp"
#include "blocking_wait.hpp"

#include <pawl/blocking/client.hpp>

#include <stop_token>
#include <string_view>

namespace pawl::blocking {

// As `acquire` and `try_acquire` of a client or of a lock_owner.
held_lock acquire_lock(const std::shared_ptr<loop>& loop, std::string_view name,
                       const core::request& request, const std::stop_token& cancel = {},
                       const std::shared_ptr<core::lock_owner_state>& owner = {});

// As held_lock's functions of the same names.
void renew(const std::shared_ptr<loop>& loop, const std::shared_ptr<core::lease>& lease);
void downgrade(const std::shared_ptr<loop>& loop, const std::shared_ptr<core::lease>& lease);

}  // namespace pawl::blocking
