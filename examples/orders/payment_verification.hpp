// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A payment is verified: the delay queue, the result page and the notice of the payment channel
// each call `verify`, at the same time. Two systems are read, and one is written.
#pragma once

#include "partner.hpp"

#include <pawl/blocking/client.hpp>
#include <pawl/guard/once.hpp>

namespace shop {

// Each thread has its own. The members must outlive it.
struct payment_verification {
    pawl::blocking::client& locks;
    guard::connection& db;
    source &channel, &platform;
    partner& crm;
    guard::once_options options{
        .lease = std::chrono::seconds(30), .keep = std::chrono::hours(72), .attempts = 8};
    pawl::duration pause = std::chrono::seconds(5);  // before the next try

    // True: the customer database knows the payment's state, which is the result.
    guard::once_result verify(const std::string& order) {
        const auto work = [&](const guard::attempt& attempt) -> guard::outcome {
            const auto paid = channel.state(order);
            const auto known = platform.state(order);
            if (paid == "pending" || known == "pending") return guard::retry_after{pause};
            const auto written =
                crm.post("/verifications/" + order, paid + ' ' + known, headers_of(attempt));
            if (written.status == 422) return guard::rejected{written.body};
            if (written.status >= 400) return guard::retry_after{pause};
            return written.body;
        };
        const std::string name = "verify/" + order;
        return guard::guarded_at_least_once(locks, db, name, name, options, work);
    }
};

}  // namespace shop
