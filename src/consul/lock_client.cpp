// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_client.hpp"

#include "errors.hpp"
#include "json.hpp"

#include <algorithm>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::consul {
namespace {

std::int64_t milliseconds_since_1970(const runtime& time) {
    return time.wall_clock().time_since_epoch() / 1ms;
}

operation check_of(const std::string& key, std::uint64_t index) {
    operation check;
    check.verb = "check-index";
    check.key = key;
    check.index = index;
    return check;
}

}  // namespace

lock_client::lock_client(const options& settings, const backend_context& context)
    : context_(context),
      keys_(settings.name_space),
      operations_(*context_.time, context_.strand),
      server_(std::make_shared<api>(settings, context)),
      sessions_(*server_, keys_, context),
      sweeper_wakeup_(*context_.time, context_.strand) {}

std::vector<operation> lock_client::begin_acquire(const session& used) const {
    return {check_of(keys_.guard_key(used.id), used.guard_index)};
}

void lock_client::append_acquire(std::vector<operation>& operations, const claim& requested,
                                 const std::string& key, const session& used,
                                 std::uint64_t free_at) const {
    const auto since = milliseconds_since_1970(*context_.time);
    operation lock;
    lock.verb = "lock";
    lock.key = key;
    lock.value = make_value(requested.owner, context_.process, since);
    lock.session = used.id;
    lock.flags = lock_flags;
    // A session may lock its own key again: "lock" alone would not exclude its other holds.
    operation unlocked = check_of(key, free_at);
    if (free_at == 0) unlocked.verb = "cas";  // makes the key, if there is none
    operations.push_back(std::move(unlocked));
    operations.push_back(std::move(lock));
}

asio::awaitable<lock_client::outcome> lock_client::evaluate(std::vector<refusal> refusals,
                                                            std::shared_ptr<session> used) {
    auto result = outcome::locked;
    for (const auto& each : refusals) {
        const auto reason = reason_of(each);
        if (reason == refused_for::invalid_session) {
            used->is_over = true;
            co_return outcome::repeat;
        }
        if (each.operation == 0 && reason == refused_for::locked) {
            const auto guard = keys_.guard_key(used->id);
            const auto limit = try_deadline();
            const auto seen = co_await server_->read(guard, limit);
            if (!seen.stored)
                used->is_over = true;
            else
                used->guard_index = std::max(used->guard_index, seen.stored->modify_index);
            co_return outcome::repeat;
        }
        if (reason == refused_for::lock_delay)
            result = outcome::delayed;
        else if (reason != refused_for::locked)
            throw refusal_error(each, server_->client().subject());
    }
    co_return result;
}

// A smaller index than before is that of older data, or of another cluster.
grant lock_client::add_hold(const claim& requested, held_key added, std::uint64_t known_index) {
    const auto index = added.index;
    if (index < known_index) {
        end_in_background(added);
        context_.listener->on_possible_loss();
        throw error(errc::refused,
                    server_->client().subject() + " has the index " + std::to_string(index) +
                        " after " + std::to_string(known_index) +
                        ": it has older data, and fencing tokens would go back; restore into the "
                        "same cluster, or use another namespace and new tokens.");
    }
    highest_index_ = std::max(highest_index_, index);
    added.deadline = added.holder->deadline(requested.ttl);
    grant granted;
    granted.deadline = added.deadline;
    if (requested.fenced) granted.token = fencing_token(index);
    granted.stored_value = requested.owner;
    plan_sweep(added.deadline);
    holds_.insert_or_assign(requested.owner, std::move(added));
    return granted;
}

asio::awaitable<std::vector<grant>> lock_client::acquire_batch(std::span<const claim> claims,
                                                               time_point give_up_at) {
    const core::in_flight::guard operation(operations_);
    const auto limit = give_up_at > now() ? std::min(give_up_at, now() + 5s) : try_deadline();
    const auto used = co_await sessions_.get(claims.front().ttl, limit);
    const auto known_index = highest_index_;
    auto operations = begin_acquire(*used);
    for (const auto& each : claims)
        append_acquire(operations, each, keys_.lock_key(each.name), *used, 0);
    transaction_result result;
    std::exception_ptr failure;
    bool is_unknown = true;
    try {
        result = co_await server_->transact(std::move(operations), limit);
    } catch (const http::no_response&) {
        failure = std::current_exception();
    } catch (const error& failed) {
        is_unknown = failed.reason() == errc::protocol;
        failure = std::current_exception();
    } catch (...) {
        failure = std::current_exception();
    }
    if (failure && is_unknown)
        for (const auto& each : claims)
            undo_in_background(each.owner, keys_.lock_key(each.name), used);
    if (failure) std::rethrow_exception(failure);
    std::vector<grant> grants;
    if (!result.refusals.empty()) {
        const auto refused = co_await evaluate(result.refusals, used);
        if (refused == outcome::repeat)
            throw error(errc::unavailable, server_->client().subject() +
                                               " has ended the session; the request is repeated.");
        co_return grants;
    }
    if (result.entries.empty()) throw strange_answer(server_->client().subject());
    const auto index = result.entries.back().modify_index;
    for (const auto& each : claims) {
        held_key added{keys_.lock_key(each.name), index, used, {}};
        grants.push_back(add_hold(each, std::move(added), known_index));
    }
    co_return grants;
}

asio::awaitable<std::vector<lock_client::key_state>> lock_client::check(
    std::vector<operation> checks, time_point give_up_at) {
    std::vector<key_state> states(checks.size(), key_state::held);
    const auto result = co_await server_->transact(std::move(checks), give_up_at);
    for (const auto& each : result.refusals) {
        if (reason_of(each) != refused_for::locked || each.operation >= states.size())
            throw refusal_error(each, server_->client().subject());
        const bool is_missing = each.reason.find("doesn't exist") != std::string::npos;
        states[each.operation] = is_missing ? key_state::missing : key_state::changed;
    }
    co_return states;
}

// The hold may have been released meanwhile.
void lock_client::settle(renewal_batch& batch, std::size_t member, key_state state) {
    const auto& renewed = batch.renewals()[member];
    const auto position = holds_.find(renewed.held->claim.owner);
    if (state != key_state::held || position == holds_.end()) {
        batch.settle(member, state == key_state::missing ? renewal::outcome::missing
                                                         : renewal::outcome::refused);
        if (position != holds_.end()) holds_.erase(position);
        return;
    }
    auto& hold = position->second;
    const auto deadline = hold.holder->deadline(renewed.ttl);
    hold.deadline = std::max(hold.deadline, deadline);
    batch.settle(member, renewal::outcome::extended, deadline);
}

// The session lasts because of its renewal. That the key is still the hold's is another question: a
// forced release deletes it.
asio::awaitable<void> lock_client::renew_session(std::shared_ptr<session> renewed,
                                                 renewal_batch& batch,
                                                 std::vector<std::size_t> members,
                                                 time_point give_up_at) {
    constexpr std::size_t most_checks = 64;
    co_await sessions_.renew(renewed, give_up_at);
    for (std::size_t begin = 0; begin < members.size(); begin += most_checks) {
        const auto end = std::min(members.size(), begin + most_checks);
        std::vector<operation> checks;
        std::vector<std::size_t> checked;
        for (auto i = begin; i < end; ++i) {
            const auto position = holds_.find(batch.renewals()[members[i]].held->claim.owner);
            if (position == holds_.end() || renewed->is_over) {
                settle(batch, members[i], key_state::changed);
                continue;
            }
            checks.push_back(check_of(position->second.key, position->second.index));
            checked.push_back(members[i]);
        }
        if (checks.empty()) continue;
        const auto states = co_await check(std::move(checks), give_up_at);
        for (std::size_t i = 0; i < states.size(); ++i)
            settle(batch, checked[i], states[i]);
    }
}

asio::awaitable<void> lock_client::renew(renewal_batch& batch) {
    const core::in_flight::guard operation(operations_);
    std::map<std::shared_ptr<session>, std::vector<std::size_t>> groups;
    auto limit = now();
    for (std::size_t i = 0; i < batch.renewals().size(); ++i) {
        const auto& each = batch.renewals()[i];
        limit = std::max(limit, each.useful_until);
        const auto position = holds_.find(each.held->claim.owner);
        if (position == holds_.end())
            batch.settle(i, renewal::outcome::refused);
        else
            groups[position->second.holder].push_back(i);
    }
    limit = std::min(limit, try_deadline());
    for (const auto& [holder, members] : groups) {
        try {
            co_await renew_session(holder, batch, members, limit);
        } catch (const std::exception&) {}  // the outcomes are unknown
    }
}

asio::awaitable<bool> lock_client::delete_key(const held_key& ended, time_point give_up_at) {
    std::vector<operation> operations{check_of(ended.key, ended.index)};
    operation removal;
    removal.verb = "delete";
    removal.key = ended.key;
    operations.push_back(std::move(removal));
    const auto result = co_await server_->transact(std::move(operations), give_up_at);
    for (const auto& each : result.refusals)
        if (reason_of(each) != refused_for::locked)
            throw refusal_error(each, server_->client().subject());
    co_return result.refusals.empty();
}

asio::awaitable<release_result> lock_client::reason_of_end(const held_key& ended,
                                                           time_point give_up_at) {
    const auto seen = co_await server_->read(ended.key, give_up_at);
    const bool is_locked = seen.stored && !seen.stored->session.empty();
    co_return is_locked ? release_result::taken_over : release_result::expired;
}

// A release whose answer is missing is sent once more.
asio::awaitable<release_result> lock_client::release(const hold& held) {
    const core::in_flight::guard operation(operations_);
    const auto position = holds_.find(held.claim.owner);
    if (position == holds_.end()) co_return release_result::expired;
    const auto ended = position->second;
    holds_.erase(position);
    const auto limit = try_deadline();
    for (int sent = 0; sent < 2 && now() < limit; ++sent) {
        try {
            const bool was_held = co_await delete_key(ended, limit);
            if (was_held) co_return release_result::released;
            if (sent > 0) co_return release_result::unknown;  // the lost request may have done it
            const auto reason = co_await reason_of_end(ended, limit);
            co_return reason;
        } catch (const std::exception&) {}
    }
    end_in_background(ended);
    co_return release_result::unknown;
}

asio::awaitable<void> lock_client::close(time_point give_up_at) {
    if (is_forked()) co_return;
    while (operations_.must_wait(give_up_at))
        co_await operations_.wait_until(give_up_at);
    is_closing_ = true;
    sweeper_wakeup_.notify();
    const auto limit = std::min(give_up_at, try_deadline());
    try {
        if (now() < limit) co_await sessions_.destroy_all(limit);
    } catch (const std::exception&) {}  // they end by themselves
    server_->close();
}

}  // namespace pawl::consul
