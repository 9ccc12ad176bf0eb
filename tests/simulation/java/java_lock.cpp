// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "java_lock.hpp"

#include <algorithm>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

using kind = redis::reply::kind;

// Redisson's default fairLockWaitTimeout, for threads without a waiting time.
constexpr auto default_queue_wait_ms = "300000";

// The messages of LockPubSub.
constexpr auto unlock_message = "0";
constexpr auto read_unlock_message = "1";

std::string owner_in(const java_client& client, java_object object, std::uint64_t thread) {
    return client.owner_of(thread) + (object == java_object::write_lock ? ":write" : "");
}

std::string channel_of(java_object object, const std::string& tagged, const std::string& owner) {
    if (object == java_object::read_lock || object == java_object::write_lock)
        return "redisson_rwlock:" + tagged;
    return "redisson_lock__channel:" + tagged +
           (object == java_object::fair_lock ? ":" + owner : "");
}

}  // namespace

java_lock::java_lock(java_client& client, java_object object, std::string name,
                     std::uint64_t thread, duration lease, bool wants_token)
    : client_(client),
      object_(object),
      wants_token_(wants_token && object == java_object::fenced_lock),
      name_(std::move(name)),
      tagged_("{" + name_ + "}"),
      owner_(owner_in(client, object, thread)),
      channel_(channel_of(object, tagged_, owner_)),
      lease_(lease),
      queue_wait_ms_(default_queue_wait_ms) {}

std::string java_lock::lease_ms() const { return std::to_string(lease_ / 1ms); }

std::string java_lock::name_with(std::string_view prefix) const {
    return std::string(prefix) + ":" + tagged_;
}

java_lock::call java_lock::acquire_call(bool waits) const {
    const words queue_keys{name_, name_with("redisson_lock_queue"),
                           name_with("redisson_lock_timeout")};
    switch (object_) {
    case java_object::lock: return {java_script::lock, {name_}, {lease_ms(), owner_}};
    case java_object::fenced_lock:
        return {wants_token_ ? java_script::fenced_lock_with_token : java_script::fenced_lock,
                {name_, name_with("redisson_lock_token")},
                {lease_ms(), owner_}};
    case java_object::fair_lock:
        if (waits)
            return {java_script::fair_lock,
                    queue_keys,
                    {lease_ms(), owner_, queue_wait_ms_, client_.clock_ms()}};
        return {java_script::fair_try_lock,
                queue_keys,
                {lease_ms(), owner_, client_.clock_ms(), queue_wait_ms_}};
    case java_object::read_lock:
        return {java_script::read_lock,
                {name_, tagged_ + ":" + owner_ + ":rwlock_timeout"},
                {lease_ms(), owner_, owner_ + ":write"}};
    default: return {java_script::write_lock, {name_}, {lease_ms(), owner_}};
    }
}

java_lock::call java_lock::unlock_call(const std::string& latch) const {
    const auto latch_ms = std::to_string(client_.request_period() / 1ms);
    switch (object_) {
    case java_object::fair_lock:
        return {java_script::fair_unlock,
                {name_, name_with("redisson_lock_queue"), name_with("redisson_lock_timeout"),
                 name_with("redisson_lock__channel"), latch},
                {unlock_message, lease_ms(), owner_, client_.clock_ms(), client_.publish_command(),
                 latch_ms}};
    case java_object::read_lock:
        return {java_script::read_unlock,
                {name_, channel_, tagged_ + ":" + owner_ + ":rwlock_timeout", tagged_, latch},
                {unlock_message, owner_, client_.publish_command(), latch_ms}};
    case java_object::write_lock:
        return {java_script::write_unlock,
                {name_, channel_, latch},
                {read_unlock_message, lease_ms(), owner_, client_.publish_command(), latch_ms}};
    default:
        return {java_script::unlock,
                {name_, channel_, latch},
                {unlock_message, lease_ms(), owner_, client_.publish_command(), latch_ms}};
    }
}

java_lock::call java_lock::renew_call() const {
    if (object_ == java_object::read_lock)
        return {java_script::read_renew, {name_, tagged_}, {lease_ms(), "1", owner_}};
    return {java_script::renew, {name_}, {lease_ms(), owner_}};
}

asio::awaitable<java_lock::attempt> java_lock::try_acquire(bool waits) {
    const auto request = acquire_call(waits);
    const auto sent_at = client_.scenario_now();
    const auto reply = co_await client_.run(request.script, request.keys, request.arguments,
                                            java_client::retries::none);
    attempt result;
    // Of the holder's lease, or in a fair lock's queue, of the place before this thread's.
    auto left_ms = reply.number;
    if (wants_token_) {
        left_ms = reply.items.at(0).number;
        result.granted.is_granted = left_ms == -1;
        if (result.granted.is_granted)
            result.granted.token = static_cast<std::uint64_t>(reply.items.at(1).number);
    } else {
        result.granted.is_granted = reply.type == kind::nil;
    }
    if (left_ms >= 0) result.try_again_at = client_.now() + left_ms * 1ms;
    result.granted.sent_at = sent_at;
    co_return result;
}

asio::awaitable<java_lock::hold> java_lock::acquire(time_point give_up_at) {
    const bool waits = client_.now() < give_up_at;
    if (waits && give_up_at != time_point::max())
        queue_wait_ms_ = std::to_string(
            std::chrono::ceil<std::chrono::milliseconds>(give_up_at - client_.now()).count());
    const auto first = co_await try_acquire(waits);
    if (first.granted.is_granted || !waits) co_return first.granted;
    co_await client_.subscribe(channel_);
    const subscription until_the_end{client_, channel_};
    const auto granted = co_await acquire_with_messages(client_, channel_, give_up_at);
    if (!granted.is_granted) co_await leave_queue();
    co_return granted;
}

asio::awaitable<void> java_lock::leave_queue() {
    if (object_ != java_object::fair_lock) co_return;
    const words keys{name_with("redisson_lock_queue"), name_with("redisson_lock_timeout")};
    const words arguments{owner_, queue_wait_ms_};
    co_await client_.run(java_script::fair_leave, keys, arguments, java_client::retries::some);
}

// If the reply to an earlier `lock` was lost, the thread has entered the lock again, and one
// `unlock` does not release it. A careful program checks that.
asio::awaitable<void> java_lock::release() {
    bool is_held = true;
    while (is_held) {
        co_await unlock();
        is_held = co_await is_held_by_this_thread();
    }
}

asio::awaitable<void> java_lock::unlock() {
    const auto latch = client_.new_unlock_latch(name_);
    const auto request = unlock_call(latch);
    co_await client_.run(request.script, request.keys, request.arguments,
                         java_client::retries::none);
    client_.delete_later(latch);
}

asio::awaitable<bool> java_lock::is_held_by_this_thread() {
    const words command{"HEXISTS", name_, owner_};
    const auto reply = co_await client_.send(command);
    co_return reply.number == 1;
}

asio::awaitable<bool> java_lock::renew() {
    const auto request = renew_call();
    const auto reply = co_await client_.run(request.script, request.keys, request.arguments,
                                            java_client::retries::some);
    co_return reply.items.at(0).number == 1;
}

}  // namespace pawl::simulation
