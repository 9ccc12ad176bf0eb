// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// error: use of deleted function|call to deleted constructor
#include <pawl/client.hpp>

void make(boost::asio::any_io_executor on, pawl::service where) {
    const pawl::client_options options{.command = "nightly report"};
    const pawl::client locks(on, where, options);
#ifdef MISUSE
    // Inside a co_await GCC 12 destroys such a temporary twice.
    const pawl::client wrong(on, where, {.command = "nightly report"});
#endif
}
