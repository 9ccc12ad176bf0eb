// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "releases.hpp"

#include "../common/release_retry.hpp"
#include "../common/values.hpp"
#include "../topology/follow_key.hpp"
#include "../transport/numbers.hpp"
#include "../transport/server_errors.hpp"
#include "wrong_type.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace asio = boost::asio;

namespace pawl::redis::native {

release_call releases::call_of(const keys& lock_keys, std::string_view stored_value,
                               const local_successor& successor, bool queue_first) {
    release_call call{.lock_keys = lock_keys, .value = stored_value, .queue_first = queue_first};
    if (successor.record) {
        call.successor = successor.record->member();
        call.successor_value = successor.stored_value;
        call.successor_ttl_ms = successor.ttl_ms;
    }
    return call;
}

// Not a coroutine of its own, which would cost an allocation.
asio::awaitable<answer> releases::send_release(const keys& lock_keys, std::string_view stored_value,
                                               const local_successor& successor, bool queue_first,
                                               time_point give_up_at) {
    const auto compose = [this, &lock_keys, stored_value, &successor,
                          queue_first](const link& asked) {
        const auto call = call_of(lock_keys, stored_value, successor, queue_first);
        return call.command(scripts_.words_at(asked));
    };
    return follow_key(access_.servers(), lock_keys.lock(), give_up_at, compose);
}

asio::awaitable<answer> releases::send_release_by_mode(const hold& held, const keys& lock_keys,
                                                       const local_successor& successor,
                                                       bool queue_first, time_point give_up_at) {
    const std::string_view stored_value = held.grant.stored_value;
    if (held.claim.mode == lock_mode::exclusive)
        return send_release(lock_keys, stored_value, successor, queue_first, give_up_at);
    const auto compose = [this, &lock_keys, stored_value](const link& asked) {
        const release_non_exclusive_call call{lock_keys, stored_value};
        return call.command(scripts_.words_at(asked));
    };
    return follow_key(access_.servers(), lock_keys.lock(), give_up_at, compose);
}

release_reply releases::read(const reply& from, const hold& held, const keys& lock_keys,
                             const local_successor& successor) {
    if (from.type == reply::kind::error) return {};
    const std::string_view stored_value = held.grant.stored_value;
    if (held.claim.mode == lock_mode::exclusive)
        return call_of(lock_keys, stored_value, successor, false).read(from);
    return release_non_exclusive_call{lock_keys, stored_value}.read(from);
}

asio::awaitable<reply> releases::resend_release(const hold& held, time_point give_up_at) {
    const auto lock_keys = scripts_.scheme().keys_of(held.claim.name);
    const local_successor no_successor;
    auto received = co_await send_release_by_mode(held, lock_keys, no_successor, false, give_up_at);
    (void)read(received, held, lock_keys, no_successor);  // throws if it is not as expected
    co_return static_cast<reply&&>(received);
}

asio::awaitable<release_result> releases::diagnose_wrong_type(const hold& held,
                                                              const keys& lock_keys,
                                                              time_point give_up_at) {
    const bool is_exclusive = held.claim.mode == lock_mode::exclusive;
    for (const auto& typed : typed_keys_of(lock_keys)) {
        const bool is_holding_key = typed.key == lock_keys.lock() ||
                                    typed.key == lock_keys.holders() ||
                                    typed.key == lock_keys.details();
        if (!is_holding_key || (is_exclusive && typed.key != lock_keys.lock())) continue;
        const std::array<std::string_view, 2> command{"TYPE", typed.key};
        const auto type = co_await exec_at(access_.servers(), typed.key, command, give_up_at);
        if (type.type == reply::kind::error) co_return release_result::unknown;
        if (type.text != typed.type && type.text != "none") co_return release_result::taken_over;
    }
    access_.log(std::string(lock_keys.lock()) +
                ": could not be released, because another key of this lock has a value of the "
                "wrong type; the hold ends with its lease.");
    co_return release_result::unknown;
}

asio::awaitable<release_result> releases::release(const hold& held) {
    const core::in_flight::guard operation(tasks_.operations());
    auto lock_keys = scripts_.scheme().keys_of(held.claim.name, std::exchange(spare_key_text_, {}));
    const auto give_up_at = access_.release_deadline(held);
    auto result = release_result::unknown;
    local_successor successor;
    undo_queue::prepared_entry undo;
    undo_queue* undos = nullptr;
    undo_queue::origin origin;
    try {
        // Choose the successor after the wait for a connection: a waiter may leave at any time.
        auto* server_link = &access_.servers().link_of(lock_keys.lock());
        if (!server_link->connected())
            server_link =
                co_await connected_link_of(access_.servers(), lock_keys.lock(), give_up_at);
        successor = choose_successor(held.claim);
        // After many hand-offs within this process, the queue at the server decides.
        const auto local_hand_offs = local_hand_offs_.find(held.claim.name);
        const bool queue_first = local_hand_offs != local_hand_offs_.end() &&
                                 local_hand_offs->second >= access_.bounds().max_local_hand_offs;
        undos = &access_.undos().of(*server_link);
        origin = undos->present_origin();
        if (successor.record) undo = undo_queue::prepare(records_.leave_of(successor.record));
        const auto sent_at = access_.now();
        const auto received =
            co_await send_release_by_mode(held, lock_keys, successor, queue_first, give_up_at);
        const auto outcome = read(received, held, lock_keys, successor);
        result = outcome.result;
        if (is_wrong_type(received))
            result = co_await diagnose_wrong_type(held, lock_keys, give_up_at);
        hand_to_successor(held.claim.name, successor, *undos, std::move(undo),
                          outcome.successor_token, sent_at);
    } catch (const error&) {
        local_hand_offs_.erase(held.claim.name);
        // The server may have given the lock to the successor, which may have left meanwhile.
        if (auto* waiting_successor = waiters_.find_by_owner(successor.owner()))
            waiting_successor->notify_change();
        else if (!undo.empty())
            undos->add(std::move(undo), successor.ttl, origin);
    }
    if (result == release_result::unknown && !tasks_.is_closing())
        asio::co_spawn(access_.context().strand, release_later(held), asio::detached);
    const auto& servers = access_.settings().where;
    const bool may_fail_over =
        std::holds_alternative<sentinels>(servers) || std::holds_alternative<cluster>(servers);
    if (result == release_result::released && may_fail_over)
        recent_releases_.add(held, access_.now());
    spare_key_text_ = std::move(lock_keys).take_text();
    co_return result;
}

// The first local waiter that can be the successor.
releases::local_successor releases::choose_successor(const claim& released) const {
    if (released.mode != lock_mode::exclusive) return {};
    const auto* waiting_successor = waiters_.find_successor(released.name);
    if (waiting_successor == nullptr) return {};
    const auto& record = waiting_successor->record;
    return {record, waiting_successor->ttl, make_value(record->value_prefix(), scripts_.wall_ms()),
            milliseconds_text(waiting_successor->ttl)};
}

// Without memory for the grant, the waiter refreshes at once, and finds the grant at the server.
void releases::hand_to_successor(const std::string& name, const local_successor& successor,
                                 undo_queue& undos, undo_queue::prepared_entry undo,
                                 const std::optional<fencing_token>& token,
                                 time_point sent_at) noexcept {
    auto* waiting_successor = waiters_.find_by_owner(successor.owner());
    try {
        if (!token) {
            local_hand_offs_.erase(name);
            return;
        }
        // The waiter has left. Its undo may have been executed before the release, because a
        // release that gets NOSCRIPT is sent again. So undo the grant here.
        if (waiting_successor == nullptr)
            undos.add(std::move(undo), successor.ttl, undos.present_origin());
        // Without this bound, names that are used once would stay for ever. Counting begins anew.
        if (local_hand_offs_.size() >= access_.bounds().max_counted_hand_offs)
            local_hand_offs_.clear();
        ++local_hand_offs_[name];
        if (waiting_successor != nullptr && !waiting_successor->received_grant)
            grant_to_successor(*waiting_successor, successor, *token, sent_at);
    } catch (const std::bad_alloc&) {
        if (waiting_successor != nullptr) waiting_successor->wakeup.notify();
    }
}

void releases::grant_to_successor(waiter& waiting_successor, const local_successor& successor,
                                  fencing_token token, time_point sent_at) {
    grant result;
    result.deadline = sent_at + waiting_successor.ttl - drift(waiting_successor.ttl);
    result.token = token;
    result.stored_value = successor.stored_value;
    waiting_successor.received_grant = std::move(result);
    waiting_successor.wakeup.notify();
}

// Repeating a release is harmless: it names the value of a hold, and no other hold has that value.
// Without memory the locks stay until their leases end.
void releases::repeat_recent_releases(const link& connected_link) {
    try {
        auto released = recent_releases_.at(access_.now());
        std::erase_if(released, [&](const hold& each) {
            const auto lock_keys = scripts_.scheme().keys_of(each.claim.name);
            return &access_.servers().link_of(lock_keys.lock()) != &connected_link;
        });
        if (!released.empty())
            asio::co_spawn(access_.context().strand, repeat_releases(std::move(released)),
                           asio::detached);
    } catch (const std::bad_alloc&) {}
}

// One after the other, so that a new master gets no burst.
asio::awaitable<void> releases::repeat_releases(std::vector<hold> released) {
    const core::in_flight::guard operation(tasks_.operations());
    for (auto& each : released) {
        if (tasks_.is_closing()) co_return;
        bool is_done = false;
        try {
            const auto reply = co_await resend_release(each, each.grant.deadline);
            is_done = reply.type != reply::kind::error || !may_succeed_later(reply.text);
        } catch (const error&) {}
        if (!is_done)
            asio::co_spawn(access_.context().strand, release_later(std::move(each)),
                           asio::detached);
    }
}

asio::awaitable<reply> releases::release_value(const std::string& name, const std::string& value,
                                               time_point give_up_at) {
    const auto lock_keys = scripts_.scheme().keys_of(name);
    const local_successor no_successor;
    auto received = co_await send_release(lock_keys, value, no_successor, false, give_up_at);
    if (received.type != reply::kind::error)
        (void)call_of(lock_keys, value, no_successor, false).read(received);
    co_return static_cast<reply&&>(received);
}

asio::awaitable<void> releases::release_later(hold held) {
    const request_sender send = [&](time_point deadline) { return resend_release(held, deadline); };
    const auto lock_keys = scripts_.scheme().keys_of(held.claim.name);
    std::string key(lock_keys.lock());
    co_await retry_release(access_, tasks_, std::move(key), send, held.claim.ttl);
}

}  // namespace pawl::redis::native
