// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "java_lock.hpp"

#include <algorithm>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

using kind = redis::reply::kind;

java_script acquire_script_of(java_object object, bool wants_token) {
    if (object == java_object::lock) return java_script::lock;
    return wants_token ? java_script::fenced_lock_with_token : java_script::fenced_lock;
}

}  // namespace

java_lock::java_lock(java_client& client, java_object object, std::string name,
                     std::uint64_t thread, duration lease, bool wants_token)
    : client_(client),
      name_(std::move(name)),
      channel_("redisson_lock__channel:{" + name_ + "}"),
      counter_("redisson_lock_token:{" + name_ + "}"),
      owner_(client.owner_of(thread)),
      lease_(lease),
      acquire_script_(acquire_script_of(object, wants_token)) {}

std::string java_lock::lease_ms() const { return std::to_string(lease_ / 1ms); }

asio::awaitable<java_lock::attempt> java_lock::try_acquire() {
    words keys{name_};
    if (acquire_script_ != java_script::lock) keys.push_back(counter_);
    const words arguments{lease_ms(), owner_};
    const auto sent_at = client_.scenario_now();
    const auto reply =
        co_await client_.run(acquire_script_, keys, arguments, java_client::retries::none);
    attempt result;
    if (acquire_script_ == java_script::fenced_lock_with_token) {
        result.left_ms = reply.items.at(0).number;
        result.granted.is_granted = result.left_ms == -1;
        if (result.granted.is_granted)
            result.granted.token = static_cast<std::uint64_t>(reply.items.at(1).number);
    } else {
        result.granted.is_granted = reply.type == kind::nil;
        result.left_ms = reply.number;
    }
    result.granted.sent_at = sent_at;
    co_return result;
}

asio::awaitable<java_lock::hold> java_lock::acquire(time_point give_up_at) {
    const auto first = co_await try_acquire();
    if (first.granted.is_granted || client_.now() >= give_up_at) co_return first.granted;
    co_await client_.subscribe(channel_);
    struct subscription {
        java_client& client;
        const std::string& channel;
        ~subscription() { client.unsubscribe(channel); }
    } const until_the_end{client_, channel_};
    co_return co_await acquire_with_messages(give_up_at);
}

// A lost message delays the thread until the holder's lease ends.
asio::awaitable<java_lock::hold> java_lock::acquire_with_messages(time_point give_up_at) {
    for (;;) {
        const auto next = co_await try_acquire();
        if (next.granted.is_granted || client_.now() >= give_up_at || client_.is_closed())
            co_return next.granted;
        const auto until = next.left_ms < 0
                               ? give_up_at
                               : std::min(give_up_at, client_.now() + next.left_ms * 1ms);
        co_await client_.wait_for_message(channel_, until);
        if (client_.now() >= give_up_at || client_.is_closed()) co_return hold();
    }
}

asio::awaitable<java_lock::unlock_result> java_lock::unlock() {
    const auto latch = client_.new_unlock_latch(name_);
    const words keys{name_, channel_, latch};
    const words arguments{"0", lease_ms(), owner_, "PUBLISH",
                          std::to_string(client_.request_period() / 1ms)};
    const auto reply =
        co_await client_.run(java_script::unlock, keys, arguments, java_client::retries::none);
    client_.delete_later(latch);
    if (reply.type == kind::nil) co_return unlock_result::not_held;
    co_return reply.number == 1 ? unlock_result::released : unlock_result::entered_again;
}

asio::awaitable<bool> java_lock::renew() {
    const words keys{name_};
    const words arguments{lease_ms(), owner_};
    const auto reply =
        co_await client_.run(java_script::renew, keys, arguments, java_client::retries::some);
    co_return reply.items.at(0).number == 1;
}

}  // namespace pawl::simulation
