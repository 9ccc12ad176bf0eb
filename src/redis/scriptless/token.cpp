// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A token is a number of the counter that was taken while the lock's key had this hold's value:
// docs/backends/scriptless.md says why that is enough.
#include "locks.hpp"

#include "../topology/epoch.hpp"
#include "../transport/server_errors.hpp"

#include "../../core/util/clock_token.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <array>
#include <chrono>

namespace asio = boost::asio;

namespace pawl::redis::scriptless {
namespace {

std::int64_t floor_of(const session& asked, std::int64_t time_us) {
    const std::chrono::microseconds since_1970(time_us);
    return epoch_base(asked.epoch) +
           core::clock_token(std::chrono::system_clock::time_point(since_1970));
}

}  // namespace

std::int64_t locks::token_floor(const keys& lock_keys) const {
    const auto& asked = link_of(lock_keys).current();
    return floor_of(asked, asked.time_us);
}

asio::awaitable<std::int64_t> locks::present_floor(const keys& lock_keys, time_point give_up_at) {
    const std::array<std::string_view, 1> words{"TIME"};
    auto* server_link = co_await connected_link_of(*servers_, lock_keys.lock(), give_up_at);
    const auto answer = co_await server_link->exec(words, give_up_at);
    throw_if_error(answer, std::string(lock_keys.lock()));
    if (answer.items.size() != 2)
        throw error(errc::protocol,
                    std::string(lock_keys.lock()) +
                        ": an unexpected reply to TIME; run `pawl doctor` to see what kind of "
                        "server this is.");
    const auto seconds = std::clamp<std::int64_t>(parse_number(answer.items[0]), 0, 1LL << 40);
    const auto time_us = seconds * 1'000'000 + parse_number(answer.items[1]) % 1'000'000;
    co_return floor_of(server_link->current(), time_us);
}

asio::awaitable<std::int64_t> locks::count(const keys& lock_keys,
                                           std::span<const std::string_view> words,
                                           time_point give_up_at) {
    const auto answer = co_await exec_at(*servers_, lock_keys.fence(), words, give_up_at);
    throw_if_error(answer, std::string(lock_keys.lock()));
    if (answer.type != reply::kind::integer || answer.number <= 0)
        throw error(errc::wrong_type,
                    std::string(lock_keys.fence()) +
                        ": the counter of the lock's tokens is not above 0; somebody else has set "
                        "it, so delete that key.");
    co_return answer.number;
}

// A counter that is ahead of the clock is kept longer, by the time that it is ahead. Without an
// answer, it stays until the next hold of this name.
asio::awaitable<void> locks::keep_counter(std::string fence, std::int64_t token,
                                          std::uint64_t epoch) {
    const core::in_flight::guard operation(tasks_.operations());
    try {
        const auto ahead = std::max<std::int64_t>(
            0, token - epoch_base(epoch) - core::clock_token(time().wall_clock()));
        const std::chrono::milliseconds ahead_ms(ahead * 1000 / 65536);
        const auto keep_ms = milliseconds_text(options_.token_retention + ahead_ms);
        const std::array<std::string_view, 3> words{"PEXPIRE", fence, keep_ms};
        co_await exec_at(*servers_, fence, words, reply_deadline());
    } catch (const std::exception&) {}
}

// For a new counter, or one of older data: the clock is above all earlier tokens. Two clients may
// do this at the same time. An addition would then be made twice, so the counter is set, if it
// still is this number.
asio::awaitable<std::int64_t> locks::raise_token(const keys& lock_keys, std::int64_t token,
                                                 time_point give_up_at) {
    const auto fence = lock_keys.fence();
    const std::array<std::string_view, 2> increment{"INCR", fence};
    const auto present = co_await present_floor(lock_keys, give_up_at);
    const auto lowest = std::max(token_floor(lock_keys), present);
    while (token <= lowest) {
        const auto number = std::to_string(token), raised = std::to_string(lowest + 1);
        const std::array<std::string_view, 5> raise{"SET", fence, raised, "IFEQ", number};
        const auto answer = co_await exec_at(*servers_, fence, raise, give_up_at);
        throw_if_error(answer, std::string(lock_keys.lock()));
        if (answer.type != reply::kind::nil) co_return lowest + 1;
        token = co_await count(lock_keys, increment, give_up_at);
    }
    co_return token;
}

asio::awaitable<std::optional<fencing_token>> locks::take_token(const written_value& written,
                                                                duration ttl, time_point give_up_at,
                                                                time_point& sent_at) {
    const auto& lock_keys = written.lock_keys;
    const auto fence = lock_keys.fence();
    const std::array<std::string_view, 2> increment{"INCR", fence};
    auto token = co_await count(lock_keys, increment, give_up_at);
    if (token <= token_floor(lock_keys)) token = co_await raise_token(lock_keys, token, give_up_at);
    const auto epoch = link_of(lock_keys).current().epoch;
    asio::co_spawn(context_.strand, keep_counter(std::string(fence), token, epoch), asio::detached);
    sent_at = now();
    const auto answer =
        co_await extend(*servers_, lock_keys.lock(), written.value, ttl, give_up_at);
    throw_if_error(answer, std::string(lock_keys.lock()));
    if (answer.type == reply::kind::nil) co_return std::nullopt;
    co_return fencing_token(static_cast<std::uint64_t>(token));
}

}  // namespace pawl::redis::scriptless
