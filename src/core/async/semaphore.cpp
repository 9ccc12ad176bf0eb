// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/semaphore.hpp>

#include "../engine/semaphore.hpp"
#include "async_operation.hpp"

namespace pawl::detail {

total_ptr make_total(std::uint32_t permits) {
    return std::make_shared<core::semaphore_total>(core::semaphore_total{.permits = permits});
}

void start_acquire_permits(operation_handler<held_lock> handler, engine_ptr engine, total_ptr total,
                           std::string name, lock_options options, bool single_attempt) {
    core::start_operation(
        engine,
        core::acquire_permits(engine, std::move(total), std::move(name), options, single_attempt),
        std::move(handler));
}

void start_resize_total(operation_handler<> handler, engine_ptr engine, total_ptr total,
                        std::string name, std::uint32_t permits) {
    core::start_operation(engine, core::resize(engine, std::move(total), std::move(name), permits),
                          std::move(handler));
}

}  // namespace pawl::detail
