// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "client_tasks.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace asio = boost::asio;

namespace pawl::redis {

asio::awaitable<void> client_tasks::wait_until_idle(undo_queues& undos, time_point deadline) {
    while ((!operations_.empty() || !undos.empty()) && context_.time->now() < deadline) {
        if (!operations_.empty())
            co_await operations_.wait_until(deadline);
        else
            co_await undos.wait_until_empty(deadline);
    }
}

void client_tasks::end_pauses() {
    is_closing_ = true;
    for (auto* wakeup : pauses_)
        wakeup->notify();
}

asio::awaitable<void> client_tasks::run_all(std::vector<asio::awaitable<void>> operations) {
    if (operations.empty()) co_return;  // an empty group would never complete
    if (operations.size() == 1) {
        co_await std::move(operations.front());
        co_return;
    }
    using spawned_operation = decltype(asio::co_spawn(context_.strand, std::move(operations[0]),  //
                                                      asio::deferred));
    std::vector<spawned_operation> spawned;
    spawned.reserve(operations.size());
    for (auto& each : operations)
        spawned.push_back(asio::co_spawn(context_.strand, std::move(each), asio::deferred));
    auto group = asio::experimental::make_parallel_group(std::move(spawned));
    co_await group.async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
}

}  // namespace pawl::redis
