// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "latches.hpp"

#include "../common/lock_base.hpp"
#include "../topology/follow_key.hpp"
#include "../transport/numbers.hpp"
#include "../transport/server_errors.hpp"
#include "calls/latch_calls.hpp"
#include "wrong_type.hpp"

#include "../../core/store/latch_state.hpp"
#include "../../core/util/random.hpp"

#include <pawl/options.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis::native {
namespace {

// A request names the earliest server time at which it may be executed: the estimated server time
// when the request began, less this slack.
constexpr duration clock_slack = 5s;

// Limits a time from the server, so that arithmetic with the result cannot overflow.
std::int64_t clamp_server_time(std::int64_t time) {
    return std::clamp<std::int64_t>(time, 0, 1'000'000'000'000'000);
}

}  // namespace

native_latches::native_latches(const options& server_options, const backend_context& context,
                               const key_scheme& scheme, topology& servers, const limits& bounds)
    : latch_base(server_options, context, servers, bounds), scheme_(scheme) {}

// The key of the lock's fence with `l` as its last letter.
latch_base::latch_names native_latches::latch_names_of(std::string_view name) const {
    std::string key(scheme_.keys_of(name).fence());
    key.back() = 'l';
    auto channel = scheme_.channel_of(key);
    return {std::move(key), std::move(channel)};
}

// A message is "open FIRST GENERATION REQUEST" or "gone".
latch_base::latch_event native_latches::classify(std::string_view message,
                                                 std::uint64_t generation) const {
    if (!message.starts_with("open ")) return latch_event::refresh;
    message.remove_prefix(5);
    const auto space = std::min(message.find(' '), message.size());
    const auto first_generation = parse_number(message.substr(0, space));
    const auto opened_generation =
        parse_number(message.substr(std::min(space + 1, message.size())));
    if (generation < first_generation) return latch_event::refresh;
    return generation <= opened_generation ? latch_event::opened : latch_event::none;
}

asio::awaitable<void> native_latches::learn_clock(link& server_link, time_point give_up_at) {
    auto& clock = clocks_[&server_link];
    if (clock.connection_number == server_link.current().connection_number) co_return;
    const std::array<std::string_view, 1> words{"TIME"};
    const auto sent_at = now();
    const auto reply = co_await server_link.exec(words, give_up_at);
    throw_if_error(reply, "TIME");
    if (reply.items.size() != 2)
        throw error(errc::protocol,
                    "TIME: an unexpected reply;"
                    " run `pawl doctor` to see what kind of server this is.");
    const auto seconds = clamp_server_time(parse_number(reply.items[0]));
    const auto ms = seconds * 1000 + clamp_server_time(parse_number(reply.items[1])) / 1000;
    clock = {server_link.current().connection_number, sent_at, ms};
}

std::string native_latches::server_clock::time_at(time_point instant) const {
    const auto elapsed = std::chrono::ceil<std::chrono::milliseconds>(instant - sent_at);
    return std::to_string(ms + elapsed.count());
}

asio::awaitable<void> native_latches::throw_if_latch_error(const reply& reply,
                                                           const std::string& key) {
    const std::array<typed_key, 1> hash{{{key, "hash", "a latch"}}};
    co_await throw_if_key_error(servers_, reply, hash, reply_deadline());
}

template <class Call>
asio::awaitable<decltype(std::declval<Call>().read(reply()))> native_latches::send_until_answered(
    Call& call, std::string_view name) {
    const auto names = latch_names_of(name);
    const auto request_key = names.key + ":" + core::random_hex(*context_.time, 16);
    call.request.latch_key = names.key;
    call.request.request_key = request_key;
    call.request.channel = names.channel;
    const auto started_at = now();
    const auto deadline = started_at + options_.reply_timeout + options_.connect_timeout;
    const auto is_too_late = [&] { return now() >= deadline; };
    std::optional<error> trouble;
    bool may_be_done = false;   // a request got no reply
    bool is_forgotten = false;  // the server may have executed the request and forgotten it
    for (;;) {
        bool was_sent = false;
        try {
            auto* const connected = co_await connected_link_of(servers_, names.key, deadline);
            auto& server_link = *connected;
            co_await learn_clock(server_link, deadline);
            auto& clock = clocks_[&server_link];
            if (call.request.limit_ms.empty()) {
                call.request.limit_ms = clock.time_at(deadline);
                call.request.since_ms = clock.time_at(started_at - clock_slack);
            }
            // The program may have been stopped during these waits.
            if (!is_too_late()) {
                const auto sent_at = now();
                was_sent = true;
                const auto server_reply =
                    co_await run_script(servers_, names.key, call, session_words, deadline);
                if (server_reply.type == reply::kind::error) {
                    if (!is_transient(server_reply.text))
                        co_await throw_if_latch_error(server_reply, names.key);
                    trouble = to_error(server_reply.text, names.key);
                } else if (const auto late = call.read_late(server_reply)) {
                    // An earlier error of the server is more specific.
                    if (!trouble)
                        trouble =
                            latch_unreachable(name, "the request reached the server too late");
                    clock = {server_link.current().connection_number, sent_at,
                             clamp_server_time(late->server_ms)};
                    call.request.limit_ms.clear();
                    is_forgotten = may_be_done;
                } else {
                    co_return call.read(server_reply);
                }
            }
        } catch (const connection_lost& e) {
            may_be_done = may_be_done || was_sent;
            trouble = latch_unreachable(name, e.what());
        } catch (const error& e) {
            const bool may_pass =
                e.reason() == errc::unavailable || (may_be_done && e.reason() == errc::unreachable);
            if (!may_pass) throw;
            trouble = e;
        }
        if (!is_too_late() && !is_forgotten) co_await pause(20ms, 60ms);
        if (!is_too_late() && !is_forgotten) continue;
        if (!trouble) trouble = latch_unreachable(name, "this program did not run in time");
        throw may_be_done ? latch_outcome_unknown(name, trouble->what()) : *trouble;
    }
}

asio::awaitable<bool> native_latches::try_set(std::string_view name, std::uint32_t count,
                                              duration ttl) {
    latch_set_call call{{}, std::to_string(count), milliseconds_text(ttl)};
    const bool was_set = co_await send_until_answered(call, name);
    co_return was_set;
}

asio::awaitable<latches::step> native_latches::count_down(std::string_view name,
                                                          std::uint32_t steps) {
    return send_step(name, steps, 0, {});
}

asio::awaitable<latches::step> native_latches::arrive(std::string_view name, std::uint32_t parties,
                                                      duration ttl) {
    return send_step(name, 1, parties, ttl);
}

asio::awaitable<latches::step> native_latches::send_step(std::string_view name, std::uint32_t steps,
                                                         std::uint32_t parties, duration ttl) {
    latch_down_call call{
        {}, std::to_string(steps), std::to_string(parties), milliseconds_text(ttl)};
    const auto outcome = co_await send_until_answered(call, name);
    if (!outcome.is_known) throw core::unknown_latch_error(name);
    if (outcome.other_parties)
        throw core::other_parties_error(name, *outcome.other_parties, parties);
    co_return step{outcome.generation, outcome.left};
}

asio::awaitable<bool> native_latches::was_opened(const wait_state& state, time_point give_up_at) {
    const auto request = state.open_message.substr(state.open_message.rfind(' ') + 1);
    if (!request.starts_with(state.names.key + ":")) co_return false;
    const std::array<std::string_view, 2> words{"GET", request};
    const auto reply = co_await exec_at(servers_, state.names.key, words, give_up_at);
    co_return reply.text == std::to_string(state.generation) + " 0";
}

asio::awaitable<bool> native_latches::refresh(wait_state& state, time_point give_up_at) {
    const latch_inspect_call call{state.names.key};
    const auto server_reply =
        co_await run_script(servers_, state.names.key, call, session_words, give_up_at);
    if (server_reply.type == reply::kind::error)
        co_await throw_if_latch_error(server_reply, state.names.key);
    core::latch_state standing;
    if (const auto latch = call.read(server_reply)) {
        standing.known = true;
        standing.count = latch->count;
        standing.generation = latch->generation;
        standing.first = latch->first_generation;
    }
    const bool is_forgotten = !standing.known || state.generation < standing.first;
    if (is_forgotten && !state.open_message.empty()) {
        const bool was_opened_by_step = co_await was_opened(state, give_up_at);
        if (was_opened_by_step) co_return true;
    }
    co_return core::is_over(standing, state.name, state.generation);
}

asio::awaitable<latch_info> native_latches::inspect(std::string_view name) {
    const auto names = latch_names_of(name);
    const latch_inspect_call call{names.key};
    const auto server_reply =
        co_await run_script(servers_, names.key, call, session_words, reply_deadline());
    if (server_reply.type == reply::kind::error)
        co_await throw_if_latch_error(server_reply, names.key);
    latch_info info;
    info.name = name;
    info.waiters = co_await count_waiters(names);
    const auto latch = call.read(server_reply);
    if (!latch) co_return info;
    info.known = true;
    info.count = latch->count;
    info.generation = latch->generation;
    info.parties = latch->parties;
    info.remaining = milliseconds_of(std::max<std::int64_t>(latch->left_ms, 0));
    co_return info;
}

asio::awaitable<bool> native_latches::reset(std::string_view name) {
    const auto names = latch_names_of(name);
    const latch_reset_call call{names.key, names.channel};
    const auto server_reply =
        co_await run_script(servers_, names.key, call, session_words, reply_deadline());
    if (server_reply.type == reply::kind::error)
        co_await throw_if_latch_error(server_reply, names.key);
    co_return call.read(server_reply);
}

}  // namespace pawl::redis::native
