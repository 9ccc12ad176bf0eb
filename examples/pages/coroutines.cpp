// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The code of docs/guide/coroutines.md. Usage: page_coroutines [URL]
#include <pawl/client.hpp>
#include <pawl/service.hpp>
#include <pawl/with_lock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

asio::awaitable<bool> name_the_result(pawl::client& locks) {
    pawl::held_lock lock = co_await locks.async_try_acquire("shelf", {.ttl = 10s});
    if (!lock) co_return false;  // another caller has it
    co_return true;
}

asio::awaitable<bool> take_a_tuple(pawl::client& locks) {
    auto result =
        co_await locks.async_acquire("shelf", {.ttl = 10s}, asio::as_tuple(asio::deferred));
    if (std::get<0>(result)) co_return false;  // the error code
    pawl::held_lock lock = std::move(std::get<1>(result));
    co_return lock.owns_lock();
}

asio::awaitable<void> move_items(pawl::held_lock&) { co_return; }

asio::awaitable<bool> name_the_arguments(pawl::client& locks) {
    const std::vector<std::string> names{"a", "b"};
    auto both = co_await locks.async_acquire_all(names, {.ttl = 10s});
    co_await pawl::with_lock(locks, "shelf", {.ttl = 10s}, move_items);
    co_return both.owns_lock();
}

asio::awaitable<void> run_all(pawl::client& locks, int& passed) {
    for (auto* each : {name_the_result, take_a_tuple, name_the_arguments}) {
        const bool is_right = co_await each(locks);
        if (is_right) ++passed;
    }
    co_await locks.async_close();
}

}  // namespace

int main(int argc, char** argv) {
    asio::io_context loop;
    pawl::client locks(loop.get_executor(), pawl::from_url(argc > 1 ? argv[1] : "memory:"));
    int passed = 0;
    asio::co_spawn(loop, run_all(locks, passed), [](const std::exception_ptr& failure) {
        if (failure) std::rethrow_exception(failure);
    });
    loop.run();
    return passed == 3 ? 0 : 1;
}
