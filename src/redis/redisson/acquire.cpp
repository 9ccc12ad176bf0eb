// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"

#include "calls.hpp"
#include "refusals.hpp"

#include "../common/server_access.hpp"
#include "../transport/numbers.hpp"
#include "../transport/server_errors.hpp"

#include "../../core/util/outage.hpp"
#include "../../core/util/random.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis::redisson {

locks::listening_attempt::listening_attempt(locks& parent, const claim& requested)
    : object_(std::make_shared<const lock_object>(parent.object_of(requested))),
      object(*object_),
      undo_guard(parent.undo_of(object_), object_->undo_period()),
      wakeup(parent.time(), parent.context_.strand),
      parent_(parent),
      position_(parent.attempts_by_channel_.emplace(object.channel, this)) {}

locks::listening_attempt::~listening_attempt() {
    parent_.attempts_by_channel_.erase(position_);
    if (link_ != nullptr) link_->unsubscribe(object.channel);
}

asio::awaitable<void> locks::listening_attempt::listen(time_point give_up_at) {
    auto& server_link = parent_.link_of(object.keys);
    co_await server_link.subscribe(object.channel, give_up_at);
    if (link_ != nullptr) link_->unsubscribe(object.channel);
    link_ = &server_link;
}

// For permits with a lease, an owner is 12 random bytes. Every other owner is the client's UUID, a
// colon and a thread number; a writer's has :write after that, as in Redisson. Pawl puts a minus
// before the number for fair locks, and for readers and writers that get a token. Java's numbers
// have no minus.
std::string locks::new_owner(object_kind kind, bool fenced) {
    if (kind == object_kind::permits) {
        std::string bytes(12, '\0');
        time().random(std::as_writable_bytes(std::span(bytes)));
        return bytes;
    }
    const bool readwrite = kind == object_kind::read || kind == object_kind::write;
    const bool marked = kind == object_kind::fair || (readwrite && fenced);
    return client_ + (marked ? ":-" : ":") + std::to_string(++thread_count_) +
           (kind == object_kind::write ? ":write" : "");
}

lock_object locks::object_of(const claim& requested) {
    const auto kind = object_kind_of(requested, options_.object);
    check_permit_count(std::max(requested.permits, requested.total_permits));
    if (kind == object_kind::permits) check_entry_count(requested);
    return {requested, kind, naming_.names_of(requested.name), new_owner(kind, requested.fenced)};
}

asio::awaitable<std::optional<grant>> locks::acquire(const claim& requested,
                                                     time_point give_up_at) {
    const bool is_blocking = give_up_at > now();
    listening_attempt attempt(*this, requested);
    std::optional<core::outage> outage;
    for (;;) {
        std::optional<error> trouble;
        auto refresh_at = give_up_at;
        try {
            const auto deadline = reply_deadline(is_blocking, give_up_at);
            auto reply = co_await send_acquire(attempt, requested, is_blocking, deadline);
            if (reply.granted || !is_blocking) co_return std::move(reply.granted);
            outage.reset();
            // A release before the subscription was not reported to this waiter, so try again.
            if (!attempt.is_listening() && now() < give_up_at) {
                co_await attempt.listen(give_up_at);
                continue;
            }
            refresh_at = std::min(give_up_at, next_refresh(reply.remaining));
        } catch (const connection_lost& e) {
            trouble = lock_unreachable(requested.name, e.what());
        } catch (const error& e) {
            if (!e.is_transient()) throw;
            trouble = e;
        }
        if (trouble) {
            // The place of a fair lock outlives the outage; only this attempt can keep it.
            if (!attempt.undo_guard.has_queue_entry() || now() >= give_up_at) throw error(*trouble);
            if (!outage) outage.emplace(time(), context_.strand, context_.log, bounds_.pauses());
            co_await outage->pause(*trouble, give_up_at);
            continue;
        }
        if (now() < give_up_at) co_await attempt.wakeup.wait_until(refresh_at);
        if (now() >= give_up_at) co_return std::nullopt;
    }
}

// A refresh follows about once a second, or when the holder's lease ends, if that is sooner.
time_point locks::next_refresh(duration remaining) const {
    const auto interval = core::random_between(time(), min_refresh_interval, max_refresh_interval);
    if (remaining < duration{}) return now() + interval;
    return now() + std::min(interval, remaining + core::random_between(time(), 1ms, 20ms));
}

asio::awaitable<locks::outcome> locks::send_acquire(listening_attempt& attempt,
                                                    const claim& requested, bool is_blocking,
                                                    time_point give_up_at) {
    const auto& object = attempt.object;
    const auto state_before = attempt.undo_guard.current();
    const bool enters_queue = is_blocking && object.kind == object_kind::fair;
    const auto state_if_not_granted =
        enters_queue ? acquire_attempt::state::queued : acquire_attempt::state::settled;
    const acquire_call call{.object = object,
                            .queue_lease_ms = enters_queue ? milliseconds_text(queue_lease) : "0",
                            .presence_lease_ms = milliseconds_text(presence_lease)};
    time_point sent_at;
    server_words words;
    const auto compose_call = [&](const link& asked) {
        check_room_for_undo(asked);
        attempt.undo_guard.about_to_send(undos_.of(asked));
        words = session_words(asked);
        sent_at = now();
        return call.command(words);
    };
    const auto server_reply =
        co_await follow_key(*servers_, object.keys.lock, give_up_at, compose_call);
    if (server_reply.type == reply::kind::error) {
        // A script that refuses a request has taken nothing, but the request may be in the queue.
        if (is_refused_by_script(server_reply)) attempt.undo_guard.set_state(state_if_not_granted);
        if (proves_no_change(server_reply.text)) attempt.undo_guard.set_state(state_before);
        throw_if_permits_refused(server_reply, requested);
        throw_if_refused(server_reply, object.keys);
    }
    const auto answer = call.read(server_reply);
    outcome result;
    if (answer.token) {
        grant granted;
        granted.deadline = sent_at + object.ttl - drift(object.ttl);
        granted.token = *answer.token;
        granted.stored_value = object.owner;
        attempt.undo_guard.set_state(acquire_attempt::state::settled);
        result.granted = std::move(granted);
    } else {
        attempt.undo_guard.set_state(state_if_not_granted);
        result.remaining = milliseconds_of(answer.left_ms);
    }
    co_return result;
}

undo_queue::undo locks::undo_of(std::shared_ptr<const lock_object> object) {
    undo_queue::undo undo;
    undo.lock = object->keys.lock;
    undo.send = [this, undone_object = std::move(object)](time_point deadline) {
        return send_release(*undone_object, "", deadline);
    };
    return undo;
}

}  // namespace pawl::redis::redisson
