// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "java_permits.hpp"

#include "../services/redis/plan.hpp"

#include <pawl/options.hpp>

#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::simulation {

namespace {

// The end of a permit without a lease.
constexpr auto no_end_ms = "922337203685477";

}  // namespace

java_permits::java_permits(java_client& client, std::string name, std::uint64_t thread,
                           const request& wanted)
    : client_(client),
      name_(std::move(name)),
      lent_permits_("{" + name_ + "}:timeout"),
      channel_("redisson_sc:{" + name_ + "}"),
      owner_(client.owner_of(thread)),
      request_(wanted) {}

std::string java_permits::lease_end() const {
    if (request_.lease == forever) return no_end_ms;
    return std::to_string(client_.wall_ms() + request_.lease / 1ms);
}

words java_permits::acquire_arguments() {
    ids_.clear();
    for (std::uint32_t i = 0; i < request_.permits; ++i)
        ids_.push_back(client_.new_permit_id());
    words arguments{std::to_string(request_.permits), lease_end(), client_.clock_ms(), no_end_ms,
                    client_.publish_command()};
    arguments.insert(arguments.end(), ids_.begin(), ids_.end());
    return arguments;
}

asio::awaitable<java_permits::attempt> java_permits::attempt_before_wait() {
    const words keys{name_, lent_permits_, channel_};
    const auto arguments = acquire_arguments();
    const auto sent_at = client_.scenario_now();
    const auto reply = co_await client_.run(java_script::permits_acquire, keys, arguments,
                                            java_client::retries::none);
    attempt result;
    const bool has_text = reply.type == redis::reply::kind::string;
    if (has_text && reply.text.starts_with(':')) {
        const auto left = std::stoll(reply.text.substr(1)) - client_.wall_ms();
        result.try_again_at = client_.now() + left * 1ms;  // when the next permit expires
    } else if (has_text) {
        result.granted.is_granted = true;
        result.granted.sent_at = sent_at;
        result.granted.permit_ids = ids_;
    }
    co_return result;
}

asio::awaitable<java_permits::hold> java_permits::acquire(time_point give_up_at) {
    if (request_.sets_total) {
        const words keys{name_, channel_};
        const words arguments{std::to_string(semaphore_permits), client_.publish_command()};
        co_await client_.run(java_script::permits_try_set, keys, arguments,
                             java_client::retries::some);
    }
    const auto first = co_await attempt_before_wait();
    if (first.granted.is_granted || client_.now() >= give_up_at) co_return first.granted;
    co_await client_.subscribe(channel_);
    const subscription until_the_end{client_, channel_};
    co_return co_await acquire_with_messages(client_, channel_, give_up_at);
}

asio::awaitable<void> java_permits::release() {
    const words keys{name_, channel_, lent_permits_};
    if (ids_.size() == 1) {
        const words arguments{ids_.front(), "1", client_.clock_ms(), client_.publish_command()};
        co_await client_.run(java_script::permits_release, keys, arguments,
                             java_client::retries::some);
        co_return;
    }
    words arguments{std::to_string(ids_.size()), client_.clock_ms(), client_.publish_command()};
    arguments.insert(arguments.end(), ids_.begin(), ids_.end());
    co_await client_.run(java_script::permits_release_all, keys, arguments,
                         java_client::retries::some);
}

// Redisson has no watchdog for permits, so a careful program calls updateLeaseTime.
asio::awaitable<bool> java_permits::renew() {
    const words keys{name_, lent_permits_, channel_};
    const auto end = lease_end();
    for (const auto& id : ids_) {
        const words arguments{id, end, client_.clock_ms(), client_.publish_command()};
        const auto reply = co_await client_.run(java_script::permits_update_lease, keys, arguments,
                                                java_client::retries::some);
        if (reply.number != 1) co_return false;
    }
    co_return true;
}

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
