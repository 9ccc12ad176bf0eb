// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "java_semaphore.hpp"

#include "../workload/plan.hpp"

#include <utility>

namespace asio = boost::asio;

namespace pawl::simulation {

java_semaphore::java_semaphore(java_client& client, std::string name, std::uint64_t thread,
                               std::uint32_t permits)
    : client_(client),
      name_(std::move(name)),
      channel_("redisson_sc:{" + name_ + "}"),
      owner_(client.owner_of(thread)),
      permits_(std::to_string(permits)) {}

asio::awaitable<java_semaphore::hold> java_semaphore::try_acquire() {
    const words keys{name_};
    const words arguments{permits_};
    hold result;
    result.sent_at = client_.scenario_now();
    const auto reply = co_await client_.run(java_script::semaphore_acquire, keys, arguments,
                                            java_client::retries::none);
    result.is_granted = reply.number == 1;
    co_return result;
}

asio::awaitable<java_semaphore::hold> java_semaphore::acquire(time_point give_up_at) {
    const words keys{name_, channel_};
    const words arguments{std::to_string(semaphore_permits), "PUBLISH"};
    co_await client_.run(java_script::semaphore_try_set, keys, arguments,
                         java_client::retries::none);
    const auto first = co_await try_acquire();
    if (first.is_granted || client_.now() >= give_up_at) co_return first;
    co_await client_.subscribe(channel_);
    struct subscription {
        java_client& client;
        const std::string& channel;
        ~subscription() { client.unsubscribe(channel); }
    } const until_the_end{client_, channel_};
    co_return co_await acquire_with_messages(give_up_at);
}

asio::awaitable<java_semaphore::hold> java_semaphore::acquire_with_messages(time_point give_up_at) {
    for (;;) {
        const auto next = co_await try_acquire();
        if (next.is_granted) co_return next;
        co_await client_.wait_for_message(channel_, give_up_at);
        if (client_.now() >= give_up_at || client_.is_closed()) co_return hold();
    }
}

asio::awaitable<void> java_semaphore::release() {
    const words keys{name_, channel_};
    const words arguments{permits_, "PUBLISH"};
    co_await client_.run(java_script::semaphore_release, keys, arguments,
                         client_.retries_of_release());
}

asio::awaitable<bool> java_semaphore::renew() { co_return true; }

}  // namespace pawl::simulation
