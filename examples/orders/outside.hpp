// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The systems outside of the shop, as one HTTP service in a process of its own.
//
// POST to any other path than the pages below is an effect at the resource of this path. The
// service remembers the Idempotency-Key and answers a repetition as the first time. It refuses with
// 412 a Fencing-Token that is smaller than one of the same resource. Both headers may be missing.
// It answers 200 with the body of the request. Each effect is a line of the log, before the answer:
//     TIME KEY RESOURCE TOKEN BODY
// TIME is in µs since 1970, KEY is - if there is none, TOKEN is 0 then, and BODY may have spaces.
// The keys and tokens survive a restart, since the log is read at the start.
//
// GET /channel/ORDER and /platform/ORDER are the pages with the state of a payment: "paid", unless
// a POST to the page has changed it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace shop {

struct outside_options {
    std::chrono::milliseconds delay{};  // between the effect and its answer
    // Of each 1000 resources, the effects of so many are not answered the first time: the
    // connection is closed after the effect. Which ones is a matter of their names.
    std::uint32_t unanswered_of_1000 = 0;
};

// Serves on 127.0.0.1 until the process is ended by SIGTERM or SIGKILL. The port 0 is a free one.
// Writes "listening PORT" and a newline to the standard output when the service answers. Throws
// boost::system::system_error if the port is taken, and std::runtime_error for the log.
void run_outside(std::uint16_t port, const std::string& log, const outside_options& options);

// True if the answer to the first effect at this resource gets lost.
[[nodiscard]] bool is_unanswered(const std::string& resource, const outside_options& options);

}  // namespace shop
