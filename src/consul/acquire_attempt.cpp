// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "acquire_attempt.hpp"

#include "errors.hpp"
#include "json.hpp"

#include "../core/util/random.hpp"

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::consul {
namespace {

// What is left of a wait may be too short for a request; and a request without an answer for so
// long is undone, and the core repeats it.
constexpr duration shortest_request = 300ms;
constexpr duration longest_request = 5s;
// A session may end, or the guard key change, between two requests.
constexpr int most_repetitions = 4;
constexpr duration longest_wait = 30s;
// All waiters hear of a release at the same time.
constexpr duration longest_jitter = 20ms;
// Of the waiters beyond those that have a connection of their own.
constexpr duration shortest_poll = 500ms, longest_poll = 1s;

// A cancellation that came between two requests has ended none.
asio::awaitable<void> throw_if_cancelled() {
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none)
        throw boost::system::system_error(asio::error::operation_aborted);
}

}  // namespace

lock_client::acquire_attempt::acquire_attempt(lock_client& client, const claim& requested,
                                              time_point give_up_at)
    : client_(client),
      requested_(requested),
      give_up_at_(give_up_at),
      is_single_(give_up_at <= client.now()),
      key_(client.keys_.lock_key(requested.name)) {}

time_point lock_client::acquire_attempt::request_limit() const {
    if (is_single_) return client_.try_deadline();
    const auto now = client_.now();
    return now + std::clamp(give_up_at_ - now, shortest_request, longest_request);
}

asio::awaitable<std::optional<grant>> lock_client::acquire_attempt::run() {
    for (int repetitions = 0;;) {
        co_await throw_if_cancelled();
        const auto result = co_await request();
        if (result == outcome::granted) co_return granted_;
        if (result == outcome::delayed) co_return std::nullopt;  // the core polls
        if (result == outcome::repeat) {
            if (++repetitions < most_repetitions) continue;
            throw error(errc::unavailable, client_.server_->client().subject() +
                                               " ends each session of this client at once.");
        }
        const auto free_before = free_at_;
        co_await look();
        if (is_single_) {
            // It tries again only for a key that another program has left behind.
            if (free_at_ == 0 || free_at_ == free_before) co_return std::nullopt;
            continue;
        }
        while (!is_free_ && client_.now() < give_up_at_)
            co_await wait();
        if (!is_free_) co_return std::nullopt;
    }
}

asio::awaitable<lock_client::outcome> lock_client::acquire_attempt::request() {
    const auto used = co_await client_.sessions_.get(requested_.ttl, request_limit());
    auto operations = client_.begin_acquire(*used);
    client_.append_acquire(operations, requested_, key_, *used, free_at_);
    const auto known_index = client_.highest_index_;
    transaction_result result;
    std::exception_ptr failure;
    bool is_unknown = true;
    try {
        result = co_await client_.server_->transact(std::move(operations), request_limit());
    } catch (const http::no_response&) {
        failure = std::current_exception();
    } catch (const error& failed) {
        // An answer that is not understood may be one to a grant.
        is_unknown = failed.reason() == errc::protocol;
        failure = std::current_exception();
    } catch (...) {  // cancelled
        failure = std::current_exception();
    }
    if (failure && is_unknown) client_.undo_in_background(requested_.owner, key_, used);
    if (failure) std::rethrow_exception(failure);
    if (!result.refusals.empty()) {
        const auto refused = co_await client_.evaluate(result.refusals, used);
        co_return refused;
    }
    if (result.entries.empty()) throw strange_answer(client_.server_->client().subject());
    held_key added{key_, result.entries.back().modify_index, used, {}};
    granted_ = client_.add_hold(requested_, std::move(added), known_index);
    co_return outcome::granted;
}

// The index of a free key takes part in the next request, so that nothing else is overwritten.
void lock_client::acquire_attempt::note(const reading& seen) {
    seen_index_ = seen.index;
    is_free_ = !seen.stored || seen.stored->session.empty();
    free_at_ = seen.stored && is_free_ ? seen.stored->modify_index : 0;
    if (free_at_ != 0 && seen.stored->flags != lock_flags)
        throw wrong_type_error(*seen.stored, client_.server_->client().subject());
}

asio::awaitable<void> lock_client::acquire_attempt::look() {
    const auto seen = co_await client_.server_->read(key_, request_limit());
    note(seen);
}

asio::awaitable<void> lock_client::acquire_attempt::wait_for_change() {
    co_await throw_if_cancelled();
    auto& time = *client_.context_.time;
    const auto left = std::min<duration>(give_up_at_ - client_.now(), longest_wait);
    core::wakeup pause(time, client_.context_.strand);
    if (seen_index_ == 0 || !client_.server_->client().has_long_connection()) {
        const auto poll_at =
            client_.now() + core::random_between(time, shortest_poll, longest_poll);
        co_await pause.wait_until(std::min(poll_at, give_up_at_));
        co_await look();
        co_return;
    }
    const auto before = seen_index_;
    const auto seen = co_await client_.server_->wait_for_change(key_, before, left);
    note(seen);
    // After a restore, the index may be one of the past.
    if (seen.index < before) seen_index_ = 0;
}

asio::awaitable<void> lock_client::acquire_attempt::wait() {
    auto& time = *client_.context_.time;
    while (!is_free_ && client_.now() < give_up_at_)
        co_await wait_for_change();
    co_await throw_if_cancelled();
    if (!is_free_) co_return;
    core::wakeup pause(time, client_.context_.strand);
    co_await pause.wait_until(client_.now() +
                              core::random_between(time, duration{}, longest_jitter));
    co_await look();
}

asio::awaitable<std::optional<grant>> lock_client::acquire(const claim& requested,
                                                           time_point give_up_at) {
    const core::in_flight::guard operation(operations_);
    acquire_attempt attempt(*this, requested, give_up_at);
    auto granted = co_await attempt.run();
    co_return granted;
}

}  // namespace pawl::consul
