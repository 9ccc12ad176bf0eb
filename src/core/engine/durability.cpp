// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Between the grant and the caller: the copies of a new hold.
#include "engine.hpp"
#include "validate.hpp"

#include <algorithm>
#include <optional>

namespace asio = boost::asio;

namespace pawl::core {

// The keeper renews the holds meanwhile, so a slow copy costs no lease.
asio::awaitable<void> engine::confirm_durability(std::span<const lease_handle> granted,
                                                 durability wanted, time_point give_up_at) {
    check_durability(wanted, backend_->capabilities());
    std::vector<const hold*> holds;
    for (const auto& each : granted)
        holds.push_back(&each.held_lease->granted_hold());
    std::optional<error> failure;
    try {
        co_await live_backend().confirm_durability(holds, wanted, give_up_at);
    } catch (const error& e) {
        failure = e;
    }
    made_in_.throw_if_forked();
    const auto lost = std::ranges::find_if(
        granted, [](const lease_handle& each) { return !each.held_lease->is_held(); });
    if (lost != granted.end())
        throw error(errc::lost, "The lock '" + (*lost).held_lease->granted_hold().claim.name +
                                    "' was lost before it was durable; try again.");
    if (failure && failure->is_transient()) throw error(errc::not_durable, failure->what());
    if (failure) throw error(*failure);
}

}  // namespace pawl::core
