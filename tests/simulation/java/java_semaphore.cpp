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

asio::awaitable<java_semaphore::attempt> java_semaphore::attempt_before_wait() {
    const words keys{name_};
    const words arguments{permits_};
    attempt result;
    result.granted.sent_at = client_.scenario_now();
    const auto reply = co_await client_.run(java_script::semaphore_acquire, keys, arguments,
                                            java_client::retries::none);
    result.granted.is_granted = reply.number == 1;
    co_return result;
}

asio::awaitable<java_semaphore::hold> java_semaphore::acquire(time_point give_up_at) {
    const words keys{name_, channel_};
    const words arguments{std::to_string(semaphore_permits), client_.publish_command()};
    co_await client_.run(java_script::semaphore_try_set, keys, arguments,
                         java_client::retries::none);
    const auto first = co_await attempt_before_wait();
    if (first.granted.is_granted || client_.now() >= give_up_at) co_return first.granted;
    co_await client_.subscribe(channel_);
    const subscription until_the_end{client_, channel_};
    co_return co_await acquire_with_messages(client_, channel_, give_up_at);
}

asio::awaitable<void> java_semaphore::release() {
    const words keys{name_, channel_};
    const words arguments{permits_, client_.publish_command()};
    co_await client_.run(java_script::semaphore_release, keys, arguments,
                         client_.retries_of_release());
}

asio::awaitable<bool> java_semaphore::renew() { co_return true; }

}  // namespace pawl::simulation
