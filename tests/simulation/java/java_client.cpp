// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "java_client.hpp"

#include "../server/simulated_link.hpp"

#include <core/util/random.hpp>
#include <pawl/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

// Redisson's default number of repetitions, with shorter pauses.
constexpr int default_retries = 4;
constexpr auto retry_delay = 100ms;
constexpr auto subscription_timeout = 2500ms;

std::string random_uuid(runtime& time) {
    auto text = core::random_hex(time, 16);
    for (const auto at : {20u, 16u, 12u, 8u})
        text.insert(at, 1, '-');
    return text;
}

}  // namespace

java_client::java_client(simulated_network& network, simulated_process& process,
                         virtual_runtime& time, const redis::options& options, injected_bug bug)
    : network_(network),
      process_(process),
      time_(time),
      executor_(process.get_executor()),
      reply_timeout_(options.reply_timeout),
      bug_(bug),
      uuid_(random_uuid(time)) {
    backend_context context;
    context.strand = executor_;
    context.time = &time_;
    link_ =
        simulated_link_factory(network, process, context, options, injected_bug::none)(*this, "");
}

java_client::~java_client() = default;

std::string java_client::owner_of(std::uint64_t thread) const {
    return uuid_ + ":" + std::to_string(thread);
}

std::string java_client::new_unlock_latch(const std::string& name) {
    return "redisson_unlock_latch:{" + name + "}:" + uuid_ + std::to_string(++request_count_);
}

std::string java_client::new_permit_id() {
    std::string id(16, '\0');
    time_.random(std::as_writable_bytes(std::span(id)));
    if (bug_ == injected_bug::redisson_java_ids_repeat) id.replace(1, 15, 15, 'x');
    return id;
}

std::int64_t java_client::wall_ms() const {
    const std::int64_t error_ms = bug_ == injected_bug::redisson_java_clock_ahead ? 300 : 0;
    return network_.wall_us() / 1000 + error_ms;
}

std::string java_client::publish_command() const {
    return network_.server().is_cluster_node() ? "SPUBLISH" : "PUBLISH";
}

duration java_client::request_period() const noexcept {
    return (reply_timeout_ + retry_delay) * default_retries;
}

asio::awaitable<redis::reply> java_client::send_repeatedly(const words& command, int attempts) {
    const std::vector<std::string_view> views(command.begin(), command.end());
    for (;;) {
        if (is_closed_) throw error(errc::cancelled, "The Java client is closed.");
        try {
            co_return co_await link_->exec(views, now() + reply_timeout_);
        } catch (const error&) {
            if (--attempts <= 0 || is_closed_) throw;
        }
        co_await pause(retry_delay);
    }
}

asio::awaitable<redis::reply> java_client::run(java_script script, const words& keys,
                                               const words& arguments, retries allowed) {
    words command{"EVAL", text_of(script), std::to_string(keys.size())};
    command.insert(command.end(), keys.begin(), keys.end());
    command.insert(command.end(), arguments.begin(), arguments.end());
    auto reply =
        co_await send_repeatedly(command, allowed == retries::some ? 1 + default_retries : 1);
    if (reply.type == redis::reply::kind::error) throw error(errc::unavailable, reply.text);
    co_return reply;
}

asio::awaitable<redis::reply> java_client::send(const words& command) {
    return send_repeatedly(command, 1 + default_retries);
}

void java_client::delete_later(std::string key) {
    asio::co_spawn(executor_, delete_key(std::move(key)), asio::detached);
}

asio::awaitable<void> java_client::delete_key(std::string key) {
    const words command{"DEL", std::move(key)};
    try {
        static_cast<void>(co_await send(command));
    } catch (const error&) {}  // the key also expires by itself
}

asio::awaitable<void> java_client::subscribe(std::string channel) {
    co_await link_->subscribe(channel, now() + subscription_timeout);
    ++entries_[channel].subscribers;
}

void java_client::unsubscribe(const std::string& channel) noexcept {
    const auto it = entries_.find(channel);
    if (--it->second.subscribers == 0) entries_.erase(it);
    link_->unsubscribe(channel);
}

asio::awaitable<void> java_client::wait_for_message(std::string channel, time_point until) {
    auto& entry = entries_.at(channel);
    if (entry.unread_messages > 0) {
        --entry.unread_messages;
        co_return;
    }
    core::wakeup wakeup(time_, executor_);
    entry.sleepers.push_back(&wakeup);
    if (!is_closed_) co_await wakeup.wait_until(until);
    std::erase(entry.sleepers, &wakeup);
}

asio::awaitable<void> java_client::pause(duration length) {
    core::wakeup wakeup(time_, executor_);
    pauses_.insert(&wakeup);
    if (!is_closed_) co_await wakeup.wait_until(now() + length);
    pauses_.erase(&wakeup);
}

void java_client::wake_one(channel_entry& entry) {
    if (entry.sleepers.empty()) {
        ++entry.unread_messages;
        return;
    }
    entry.sleepers.front()->notify();
    entry.sleepers.pop_front();
}

// SemaphorePubSub: the number of free permits wakes as many threads. LockPubSub: `0` wakes one
// thread, now or when it is about to sleep, and `1` each sleeping thread.
void java_client::on_message(std::string_view channel, std::string_view payload) {
    const auto it = entries_.find(channel);
    if (it == entries_.end()) return;
    auto& entry = it->second;
    if (channel.starts_with("redisson_sc:")) {
        const auto free_permits = std::stoll(std::string(payload));
        for (auto i = std::min<std::int64_t>(entry.subscribers, free_permits); i > 0; --i)
            wake_one(entry);
    } else if (payload == "1") {
        for (auto* const sleeper : std::exchange(entry.sleepers, {}))
            sleeper->notify();
    } else {
        wake_one(entry);
    }
}

void java_client::close() {
    if (std::exchange(is_closed_, true)) return;
    for (auto& [channel, entry] : entries_)
        for (auto* const sleeper : entry.sleepers)
            sleeper->notify();
    for (auto* const each : pauses_)
        each->notify();
    asio::co_spawn(executor_, close_link(), asio::detached);
}

asio::awaitable<void> java_client::close_link() { co_await link_->close(now()); }

}  // namespace pawl::simulation
