// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Callbacks instead of coroutines; any completion token works. Usage: 03_callbacks [URL]
#include <pawl/client.hpp>

#include <boost/asio/io_context.hpp>

#include <functional>
#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

int main(int argc, char** argv) {
    asio::io_context loop;
    pawl::client locks(loop.get_executor(), pawl::from_url(argc > 1 ? argv[1] : "memory:"));

    pawl::held_lock cart;
    pawl::diagnostics diag;  // the message of a failure, which an error code has no room for
    int successes = 0;
    const auto handle_release = [&](pawl::release_result result) {
        std::cout << "release: " << to_string(result) << '\n';
        successes += result == pawl::release_result::released;
        loop.stop();
    };
    const auto handle_second = [&](boost::system::error_code failed, pawl::held_lock second) {
        std::cout << (second || failed ? "unexpected result\n" : "and a second acquire fails\n");
        successes += !second && !failed;
        cart.async_release(handle_release);
    };
    const auto handle_first = [&](boost::system::error_code failed, pawl::held_lock lock) {
        if (failed) {
            std::cerr << diag.message() << '\n';
            return;
        }
        std::cout << (lock ? "cart/42 is ours\n" : "cart/42 is held by another client\n");
        cart = std::move(lock);

        // A second try while the lock is held: an empty handle, and no error.
        locks.async_try_acquire("cart/42", {.ttl = 5s}, handle_second);
    };
    locks.async_try_acquire("cart/42", {.ttl = 5s}, pawl::redirect_diagnostics(handle_first, diag));
    loop.run();
    return successes == 2 ? 0 : 1;
}
