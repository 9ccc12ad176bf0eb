// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// error: no matching function|could not convert|no viable
#include <pawl/blocking.hpp>
#include <pawl/redis.hpp>

pawl::blocking::client connect() {
#ifdef MISUSE
    // A URL is no service: write from_url or redis::at.
    return pawl::blocking::client("redis://127.0.0.1");
#else
    return pawl::blocking::client(pawl::redis::at("redis://127.0.0.1"));
#endif
}
