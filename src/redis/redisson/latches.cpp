// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "latches.hpp"

#include "calls.hpp"

#include "../common/lock_base.hpp"
#include "../topology/follow_key.hpp"
#include "../transport/server_errors.hpp"

#include <pawl/options.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace asio = boost::asio;

namespace pawl::redis::redisson {
namespace {

void throw_if_latch_error(const reply& reply, const std::string& key) {
    if (is_wrong_type(reply))
        throw error(errc::wrong_type,
                    key +
                        ": holds something that is no RCountDownLatch of Redisson's; choose "
                        "another name, or leave out layout=redisson for a latch of Pawl's own.");
    throw_if_error(reply, key);
}

}  // namespace

java_latches::java_latches(const options& server_options, const backend_context& context,
                           const naming& key_naming, topology& servers, const limits& bounds)
    : latch_base(server_options, context, servers, bounds), naming_(key_naming) {}

// Unlike the channels of locks, this channel's name always adds braces.
latch_base::latch_names java_latches::latch_names_of(std::string_view name) const {
    auto key = naming_.names_of(name).lock;
    auto channel = "redisson_countdownlatch__channel__{" + key + "}";
    return {std::move(key), std::move(channel)};
}

// "0" means that the count reached 0; "1" means that the latch was set or deleted. A latch of the
// same name in another database uses the same channel. So every message causes a refresh, as in
// Java.
latch_base::latch_event java_latches::classify(std::string_view, std::uint64_t) const {
    return latch_event::refresh;
}

asio::awaitable<bool> java_latches::refresh(wait_state& state, time_point give_up_at) {
    const auto left = co_await query_count(state.names, give_up_at);
    co_return left == 0;
}

template <class Call>
asio::awaitable<reply> java_latches::send_once(const Call& call, std::string_view name) {
    try {
        auto server_reply =
            co_await run_script(servers_, call.latch_key, call, session_words, reply_deadline());
        throw_if_latch_error(server_reply, std::string(call.latch_key));
        co_return server_reply;
    } catch (const connection_lost& e) {
        throw latch_outcome_unknown(name, e.what());
    }
}

asio::awaitable<bool> java_latches::try_set(std::string_view name, std::uint32_t count, duration) {
    const auto names = latch_names_of(name);
    co_await wait_for_connection(name, names.key);
    const latch_set_call call{names.key, std::to_string(count), names.channel};
    const auto server_reply = co_await send_once(call, name);
    co_return call.read(server_reply);
}

asio::awaitable<latches::step> java_latches::count_down(std::string_view name,
                                                        std::uint32_t steps) {
    const auto names = latch_names_of(name);
    co_await wait_for_connection(name, names.key);
    const latch_down_call call{names.key, std::to_string(steps), names.channel};
    const auto server_reply = co_await send_once(call, name);
    co_return step{0, call.read(server_reply)};
}

asio::awaitable<void> java_latches::wait_for_connection(std::string_view name,
                                                        std::string_view key) {
    try {
        co_await connected_link_of(servers_, key, reply_deadline());
    } catch (const connection_lost& e) {
        throw latch_unreachable(name, e.what());
    }
}

asio::awaitable<latches::step> java_latches::arrive(std::string_view, std::uint32_t, duration) {
    throw error(errc::unsupported,
                "Redisson's latches have no phases, and so there is no barrier with "
                "layout=redisson; use the native layout.");
    co_return step{};
}

asio::awaitable<std::uint64_t> java_latches::query_count(const latch_names& names,
                                                         time_point give_up_at) {
    // Another program's string may be longer than any reply should be.
    const std::array<std::string_view, 4> words{"GETRANGE", names.key, "0", "31"};
    const auto reply = co_await exec_at(servers_, names.key, words, give_up_at);
    throw_if_latch_error(reply, names.key);
    co_return static_cast<std::uint64_t>(std::max<std::int64_t>(parse_number(reply), 0));
}

asio::awaitable<latch_info> java_latches::inspect(std::string_view name) {
    const auto names = latch_names_of(name);
    latch_info info;
    info.name = name;
    info.known = true;
    info.remaining = forever;
    info.count = co_await query_count(names, reply_deadline());
    info.waiters = co_await count_waiters(names);
    co_return info;
}

asio::awaitable<bool> java_latches::reset(std::string_view name) {
    const auto names = latch_names_of(name);
    co_await wait_for_connection(name, names.key);
    const latch_reset_call call{names.key, names.channel};
    const auto server_reply = co_await send_once(call, name);
    co_return call.read(server_reply);
}

}  // namespace pawl::redis::redisson
