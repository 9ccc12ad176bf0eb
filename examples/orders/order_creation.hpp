// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An order is created once, charged once at a bank, and completed at night if a process died.
#pragma once

#include "partner.hpp"

#include <pawl/blocking/client.hpp>
#include <pawl/guard/once.hpp>
#include <pawl/guard/reconciliation.hpp>

namespace shop {

// Each thread has its own. The members must outlive it.
struct order_creation {
    pawl::blocking::client& locks;
    guard::connection& db;
    partner& bank;
    guard::once_options options{.lease = std::chrono::seconds(30), .keep = std::chrono::hours(72)};
    pawl::duration pause = std::chrono::seconds(5);  // before the next try at the bank

    // For the customer's request, which may come again. True: the order exists and is paid.
    guard::once_result create(const std::string& id, const std::string& body);
    // The second half of `create`, and what the night repeats.
    guard::once_result charge(const std::string& id);
    // "0 2 * * *  orders/nightly". Orders that are younger than a request's time limit may be
    // found, too: the key of their charge makes that harmless.
    guard::reconcile_report repair(guard::reconcile_options limits = {});
};

}  // namespace shop
