// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "acquire_attempt.hpp"

#include "../core/store/permits.hpp"
#include "../core/util/random.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::etcd {
namespace {

// What is left of a wait may be too short for a request.
constexpr duration shortest_request = 300ms;
constexpr duration longest_request = 5s;
// A waiter whose client has died leaves the line after this time.
constexpr duration longest_waiting_ttl = 5s;
// All look at the latest after so long: the watch may be refused, or a message lost.
constexpr duration latest_from = 10s, latest_until = 15s;
// Undos of other attempts and changes of the total make a request fail; more often than so is a
// fault.
constexpr int most_repetitions = 10;

std::int64_t milliseconds_since_1970(runtime& time) {
    return time.wall_clock().time_since_epoch() / 1ms;
}

std::uint32_t stored_total(const operation_answer& answer) noexcept {
    std::uint32_t stored = 0;
    if (answer.values.empty()) return 0;
    const std::string_view text = answer.values.front().value;
    std::from_chars(text.data(), text.data() + text.size(), stored);
    return stored;
}

}  // namespace

acquire_attempt::acquire_attempt(std::shared_ptr<lock_client> client, const claim& requested,
                                 time_point give_up_at)
    : client_(std::move(client)),
      requested_(requested),
      began_at_(client_->now()),
      give_up_at_(give_up_at),
      beginning_(client_->keys().line(requested.name)),
      key_{beginning_ + requested.owner},
      watch_(client_->watches()),
      total_watch_(client_->watches()),
      wakeup_(*client_->context().time, client_->context().strand) {
    client_->add(*this);
}

acquire_attempt::~acquire_attempt() {
    client_->remove(*this);
    if (is_settled_) return;
    client_->forget_unconfirmed(requested_.owner);
    if (is_sent_) client_->undo_in_background(std::move(key_));
}

time_point acquire_attempt::request_limit() const {
    const auto now = client_->now();
    if (!may_wait()) return client_->try_deadline();
    return now + std::clamp(give_up_at_ - now, shortest_request, longest_request);
}

bool acquire_attempt::joins_line() const noexcept {
    return may_wait() || requested_.mode != lock_mode::exclusive ||
           client_->keys().layout() == key_layout::concurrency;
}

entry_value acquire_attempt::value_with(token_place place, std::uint64_t token) const {
    entry_value value{.share = core::share_of(requested_), .place = place, .token = token};
    if (!requested_.fenced && place != token_place::waiting) value.place = token_place::none;
    value.process = client_->context().process;
    value.since_ms = milliseconds_since_1970(*client_->context().time);
    return value;
}

grant acquire_attempt::make_grant(const core::session_ptr& lease, std::uint64_t token) const {
    grant made;
    made.deadline = lease->deadline();
    made.needs_renewal = made.deadline - client_->now() < requested_.ttl / 2;
    if (requested_.fenced) made.token = fencing_token(token);
    made.stored_value = stored_hold{created_, key_.lease->id()}.encode();
    return made;
}

asio::awaitable<std::optional<grant>> acquire_attempt::run() {
    co_await get_leases();
    const auto outcome = co_await request();
    if (outcome == state::refused) {
        is_settled_ = true;
        co_return std::nullopt;
    }
    std::optional<grant> granted;
    if (outcome == state::granted)
        granted = make_grant(key_.lease, static_cast<std::uint64_t>(created_));
    else
        granted = co_await wait_in_line();
    if (!granted) {
        co_await leave();
        co_return std::nullopt;
    }
    expect_leases();
    is_settled_ = true;
    if (was_queued_) ++client_->context().counts->hand_offs;
    co_return granted;
}

// A waiter stands on a lease of its own, so that a dead one leaves the line soon.
asio::awaitable<void> acquire_attempt::get_leases() {
    auto& pool = client_->pool();
    key_.lease = co_await pool.get(requested_.ttl, request_limit());
    use_ = std::make_shared<core::session_use>(key_.lease);
    key_.waiting = key_.lease;
    if (may_wait() && requested_.ttl > longest_waiting_ttl)
        key_.waiting = co_await pool.get(longest_waiting_ttl, request_limit());
    waiting_use_ = std::make_shared<core::session_use>(key_.waiting);
}

void acquire_attempt::expect_leases() const {
    if (!key_.lease->is_over() && !key_.waiting->is_over()) return;
    throw error(errc::unavailable, client_->link().subject() +
                                       ": the lease ended during the wait; the request is repeated "
                                       "with another one.");
}

// If no key is there, the lock is granted; else the key is put at the end of the line.
transaction acquire_attempt::make_request() const {
    const auto lease = lease_of(key_.lease->id());
    const auto waiting = lease_of(key_.waiting->id());
    transaction inside{.conditions = {condition::none_under(beginning_)}};
    inside.success.push_back(
        operation::put(key_.key, value_with(token_place::created).encode(), lease));
    if (joins_line())
        inside.failure.push_back(
            operation::put(key_.key, value_with(token_place::waiting).encode(), waiting));
    inside.failure.push_back(operation::get_all(beginning_, joins_line() ? 0 : 1));
    transaction whole{.success = {inside.as_operation()}};
    client_->add_guard(whole, key_.lease);
    if (key_.waiting != key_.lease) client_->add_guard(whole, key_.waiting);
    if (requested_.mode == lock_mode::permits) {
        const auto key = client_->keys().total(requested_.name);
        whole.conditions.push_back(condition::has_value(key, std::to_string(total_)));
        whole.failure.push_back(operation::get(key));
    }
    return whole;
}

asio::awaitable<acquire_attempt::state> acquire_attempt::request() {
    if (requested_.mode == lock_mode::permits) co_await get_total();
    for (int repetition = 0; repetition < most_repetitions; ++repetition) {
        expect_leases();
        transaction_answer answer;
        try {
            is_sent_ = true;
            answer = co_await client_->run(make_request().encode(), request_limit());
        } catch (const call_error& failed) {
            if (!may_have_effect(failed)) is_sent_ = false;
            if (failed.code() == call_status::not_found) client_->on_missing_lease(key_);
            throw;
        }
        if (!answer.succeeded) {
            is_sent_ = false;
            take_refusal(answer);
            continue;
        }
        const auto& inside = answer.at(0);
        if (inside.succeeded.value_or(false)) {
            created_ = answer.revision;
            co_return state::granted;
        }
        if (!joins_line()) {
            is_sent_ = false;
            co_return state::refused;
        }
        if (inside.answers.size() < 2)
            throw error(errc::protocol, "The server's answer to a transaction has too few parts.");
        created_ = answer.revision;
        line_.emplace(inside.answers[1], beginning_, answer.revision);
        was_queued_ = may_wait();
        co_return state::in_line;
    }
    throw error(errc::unavailable,
                client_->link().subject() + ": the request was overtaken by others too often.");
}

void acquire_attempt::take_refusal(const transaction_answer& answer) {
    const std::array<core::session_ptr, 2> both{key_.lease, key_.waiting};
    const auto leases = std::span(both).first(key_.waiting == key_.lease ? 1 : 2);
    if (answer.answers.size() < leases.size())
        throw error(errc::protocol, "The server's answer to a transaction has too few parts.");
    client_->take_guards(leases, client_->guards_of(leases), answer.answers.data());
    if (requested_.mode == lock_mode::permits) take_total(answer.at(leases.size()));
}

void acquire_attempt::take_total(const operation_answer& answer) {
    total_ = core::check_total(requested_, stored_total(answer));
    client_->set_known_total(requested_.name, total_);
}

// A resize during the wait counts, whatever total the claim has named.
void acquire_attempt::follow_total(const operation_answer& answer) {
    const auto stored = stored_total(answer);
    if (stored == 0) return;
    total_ = stored;
    client_->set_known_total(requested_.name, total_);
    if (requested_.permits > total_) throw core::too_many_error(requested_, total_);
}

// The first claim with a total stores it.
asio::awaitable<void> acquire_attempt::get_total() {
    total_ = client_->known_total(requested_.name);
    if (total_ != 0 && (requested_.total_permits == 0 || requested_.total_permits == total_) &&
        requested_.permits <= total_)
        co_return;
    const auto key = client_->keys().total(requested_.name);
    transaction asked{.conditions = {condition::created_at(key, 0)}};
    if (requested_.total_permits != 0 && requested_.permits <= requested_.total_permits)
        asked.success.push_back(operation::put(key, std::to_string(requested_.total_permits), 0));
    asked.failure.push_back(operation::get(key));
    const auto answer = co_await client_->run(asked.encode(), request_limit());
    take_total(answer.succeeded ? operation_answer{} : answer.at(0));
}

asio::awaitable<std::optional<grant>> acquire_attempt::wait_in_line() {
    for (;;) {
        expect_leases();
        if (freed_at_) co_return grant_unconfirmed(static_cast<std::uint64_t>(*freed_at_));
        const auto position = line_->find(key_.key);
        if (!position)
            throw error(errc::unavailable,
                        client_->link().subject() +
                            ": another program has removed the waiter of the lock '" +
                            requested_.name + "'; the request is repeated.");
        const auto obstacle = line_->blocker_of(*position, total_);
        if (!obstacle) {
            auto granted = co_await try_grant(*position);
            if (granted) co_return granted;
        }
        if (client_->now() >= give_up_at_) co_return std::nullopt;
        // Without a blocker, it is the token of the readers before this one that is missing.
        co_await wait_for_change(*position, obstacle.value_or(core::blocker{0, true}));
    }
}

asio::awaitable<std::optional<grant>> acquire_attempt::try_grant(std::size_t position) {
    const auto header = static_cast<std::uint64_t>(line_->revision());
    if (requested_.mode == lock_mode::shared) {
        if (const auto token = line_->reader_token()) co_return grant_unconfirmed(*token);
        if (position > 0) co_return std::nullopt;
        const auto value = value_with(token_place::stored, header);
        co_return co_await grant_confirmed(value);
    }
    if (requested_.mode == lock_mode::permits && line_->has_unconfirmed_before(position)) {
        const auto value = value_with(token_place::modified);
        co_return co_await grant_confirmed(value);
    }
    // Later than every end of a hold before.
    co_return grant_unconfirmed(header);
}

// Several claims may be granted by one event, so the store numbers them.
asio::awaitable<grant> acquire_attempt::grant_confirmed(entry_value value) {
    unconfirmed_grant unconfirmed{.key = key_, .created = created_, .value = std::move(value)};
    const auto revision = co_await client_->confirm(unconfirmed, request_limit());
    if (!revision)
        throw error(errc::unavailable,
                    client_->link().subject() +
                        ": the waiter has ended; the request is repeated with another one.");
    const bool is_modified = unconfirmed.value.place == token_place::modified;
    co_return make_grant(
        key_.lease, is_modified ? static_cast<std::uint64_t>(*revision) : unconfirmed.value.token);
}

grant acquire_attempt::grant_unconfirmed(std::uint64_t token) {
    auto made = make_grant(key_.waiting, token);
    made.needs_renewal = true;
    client_->keep_unconfirmed(requested_.owner, {.key = key_,
                                                 .created = created_,
                                                 .value = value_with(token_place::stored, token),
                                                 .use = waiting_use_});
    return made;
}

// Begins the watch that the obstacle needs, and waits until there is something to look at.
asio::awaitable<void> acquire_attempt::wait_for_change(std::size_t position,
                                                       core::blocker obstacle) {
    const auto& blocking = line_->entries()[obstacle.position];
    const bool is_permits = requested_.mode == lock_mode::permits;
    if (obstacle.or_any_before) {
        watch(beginning_, end_of_prefix(beginning_), is_permits);
    } else {
        watch(blocking.key, {}, false);
        const bool is_next = obstacle.position + 1 == position;
        is_holder_watched_ = is_next && blocking.value.share.mode == lock_mode::exclusive &&
                             !is_permits && obstacle.position == 0;
    }
    auto& time = *client_->context().time;
    const auto latest = time.now() + core::random_between(time, latest_from, latest_until);
    co_await wakeup_.wait_until(std::min(give_up_at_, latest));
    if (!freed_at_ && client_->now() < give_up_at_) co_await look();
}

void acquire_attempt::watch(std::string key, std::string end, bool deletes_only) {
    if (key == watched_.key && end == watched_.end) return;
    watched_.key = std::move(key);
    watched_.end = std::move(end);
    is_holder_watched_ = false;
    watch_.begin(*this, watched_.key, watched_.end, deletes_only);
    if (requested_.mode == lock_mode::permits)
        total_watch_.begin(*this, client_->keys().total(requested_.name), {}, false);
}

// No answer changes nothing: the place in the line is kept.
asio::awaitable<void> acquire_attempt::look() {
    transaction asked{.success = {operation::get_all(beginning_)}};
    if (requested_.mode == lock_mode::permits)
        asked.success.push_back(operation::get(client_->keys().total(requested_.name)));
    std::optional<transaction_answer> answer;
    try {
        answer = co_await client_->run(asked.encode(), request_limit());
    } catch (const error& failed) {
        if (!failed.is_transient()) throw;
    }
    if (!answer) {
        auto& time = *client_->context().time;
        const auto next_at = time.now() + core::random_between(time, 200ms, 600ms);
        co_await wakeup_.wait_until(std::min(give_up_at_, next_at));
        wakeup_.notify();
        co_return;
    }
    if (requested_.mode == lock_mode::permits) follow_total(answer->at(1));
    line_.emplace(answer->at(0), beginning_, answer->revision);
}

// Without an answer, it is undone in the background.
asio::awaitable<void> acquire_attempt::leave() {
    const transaction removal{.success = {operation::remove(key_.key)}};
    try {
        co_await client_->run(removal.encode(), client_->try_deadline());
        is_settled_ = true;
    } catch (const error&) {}
}

void acquire_attempt::on_session_end() { wakeup_.notify(); }

void acquire_attempt::on_watch_begin() { wakeup_.notify(); }

// The waiter behind an exclusive holder owns the lock when the holder's key is gone: every earlier
// key is gone, too, and no later one comes before this one. Pawl's waiters write their values when
// they have become the holder.
void acquire_attempt::on_change(const watch_event& change) {
    const bool is_only_one = watched_.end.empty() && change.changed.key == watched_.key;
    if (!is_only_one) return wakeup_.notify();
    const bool is_exclusive = requested_.mode == lock_mode::exclusive;
    if (change.is_delete) {
        if (is_holder_watched_ && is_exclusive) freed_at_ = change.changed.mod_revision;
        return wakeup_.notify();
    }
    const auto value = entry_value::decode(change.changed.value);
    if (value.share.mode != lock_mode::exclusive) {
        is_holder_watched_ = false;
        wakeup_.notify();
    } else if (is_exclusive && !value.is_foreign && value.place != token_place::waiting) {
        is_holder_watched_ = true;
    }
}

}  // namespace pawl::etcd
