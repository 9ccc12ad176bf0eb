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
    advance_to(close_stage::closed);
    std::vector<lease::loss_handler> loss_waits;
    std::vector<lease::release_handler> release_waits;
    auto close_waits = std::exchange(close_handlers_, {});
    const auto queued = std::exchange(to_release_, {});
    while (const auto lease = keeper_->first()) {
        keeper_->drop(lease);
        lease->lose(loss_reason::client_closed);
        for (auto& wait : std::exchange(lease->loss_waits, {}))
            loss_waits.push_back(std::move(wait.handler));
    }
    for (; !being_released_.empty(); being_released_.pop_front())
        for (auto& wait : std::exchange(being_released_.front().release_handlers, {}))
            release_waits.push_back(std::move(wait));
}

void engine::dispose() noexcept {
    keeper_.reset();
    backend_.reset();
    close_wakeup_.reset();
    strand_ = inline_strand_ = handler_executor_ = {};
}

}  // namespace pawl::core
