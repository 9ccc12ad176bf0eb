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

client_tasks::client_tasks(const backend_context& context)
    : context_(context), operations_ended_(*context.time, context.strand) {
    operations_ended_.prepare();
}

asio::awaitable<void> client_tasks::wait_until_idle(undo_queues& undos, time_point deadline) {
    while ((active_operations_ > 0 || !undos.empty()) && context_.time->now() < deadline) {
        if (active_operations_ > 0)
            co_await operations_ended_.wait_until(deadline);
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
