// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The engine when its event loop is destroyed: see engine_registry.hpp.
#include "engine.hpp"

#include <utility>
#include <vector>

namespace pawl::core {

void engine::abandon() {
    {
        const std::lock_guard lock(abandon_mutex_);
        is_abandoned_ = true;
    }
    closing_.advance_to(close_stage::closed);
    std::vector<lease::loss_handler> loss_waits;
    std::vector<lease::release_handler> release_waits;
    auto close_waits = closing_.take_handlers();
    const auto queued = releases_.take_queued();
    while (const auto lease = keeper_->first()) {
        keeper_->drop(lease);
        lease->lose(loss_reason::client_closed);
        for (auto& wait : std::exchange(lease->loss_waits, {}))
            loss_waits.push_back(std::move(wait.handler));
    }
    releases_.move_handlers_to(release_waits);
}

void engine::dispose() noexcept {
    keeper_.reset();
    backend_.reset();
    closing_.dispose();
    completions_.dispose();
    strand_ = inline_strand_ = {};
}

}  // namespace pawl::core
