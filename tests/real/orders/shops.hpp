// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The programs of examples/orders as a worker runs them: with short leases, with some layers taken
// away, and with the faults between their code and the services.
#pragma once

#include "injector.hpp"
#include "worker.hpp"

#include <memory>
#include <string>

namespace real::orders {

struct shop_answer {
    std::string state;  // done, replayed, running, failed, mismatch, sold-out
    std::string value;
};

// Not thread-safe. After an exception it is of no more use.
class worker_shop {
public:
    virtual ~worker_shop() = default;
    // What a caller of the shop does for this order.
    virtual shop_answer call(const std::string& order) = 0;
    // What is done at night.
    virtual void repair() = 0;
    // Since the last call of this function.
    [[nodiscard]] virtual vain_work take_vain_work() noexcept = 0;
};

// Throws if a service does not answer. `faults` must outlive the result.
[[nodiscard]] std::unique_ptr<worker_shop> make_shop(const worker_options& options,
                                                     fault_injector& faults);

}  // namespace real::orders
