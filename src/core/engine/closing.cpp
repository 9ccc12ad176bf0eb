// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "closing.hpp"

#include <new>
#include <utility>

namespace pawl::core {

void closing::prepare() {
    wakeup_->prepare();
    handlers_.reserve(1);
}

void closing::advance_to(close_stage stage) noexcept {
    auto present = stage_.load();
    while (present < stage && !stage_.compare_exchange_weak(present, stage)) {}
}

void closing::add_handler(handler closed) {
    try {
        if (closed) handlers_.push_back(std::move(closed));
    } catch (const std::bad_alloc&) {
        // There is room for the first handler. A later one is called early.
        std::move(closed)();
    }
}

std::vector<closing::handler> closing::take_handlers() noexcept {
    return std::exchange(handlers_, {});
}

}  // namespace pawl::core
