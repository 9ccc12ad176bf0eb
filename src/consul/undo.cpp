// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a client does in the background: it ends holds, and undoes attempts without an answer.
#include "lock_client.hpp"

#include "errors.hpp"

#include "../core/util/back_off.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::consul {
namespace {

constexpr core::pause_lengths undo_pauses{.first = 200ms, .longest = 5s};

}  // namespace

void lock_client::end_in_background(const held_key& ended) {
    asio::co_spawn(context_.strand, end(shared_from_this(), ended), asio::detached);
}

// While other locks renew the session, the key does not end by itself.
asio::awaitable<void> lock_client::end(std::shared_ptr<lock_client> self, held_key ended) {
    const core::in_flight::guard operation(self->operations_);
    core::back_off pauses(*self->context_.time, undo_pauses);
    core::wakeup pause_timer(*self->context_.time, self->context_.strand);
    while (!self->is_forked() && !ended.holder->is_over && !self->is_closing_) {
        try {
            static_cast<void>(co_await self->delete_key(ended, self->try_deadline()));
            co_return;
        } catch (const std::exception&) {}  // repeated
        co_await pause_timer.wait_until(self->now() + pauses.next_pause());
    }
}

void lock_client::undo_in_background(const std::string& owner, const std::string& key,
                                     const std::shared_ptr<session>& holder) {
    const held_key attempted{key, 0, holder, {}};
    asio::co_spawn(context_.strand, undo(shared_from_this(), owner, attempted), asio::detached);
}

asio::awaitable<void> lock_client::undo_once(const std::string& owner, const held_key& attempted) {
    const auto& used = *attempted.holder;
    std::vector<operation> operations(2);
    operations[0].verb = "lock";  // by the same session: it only changes the value and the index
    operations[0].key = keys_.guard_key(used.id);
    operations[0].value = owner;  // Consul does not count a change to the same value
    operations[0].session = used.id;
    operations[1].verb = "get-tree";
    operations[1].key = attempted.key;
    const auto result = co_await server_->transact(std::move(operations), try_deadline());
    for (const auto& each : result.refusals) {
        if (reason_of(each) != refused_for::invalid_session)
            throw refusal_error(each, server_->client().subject());
        attempted.holder->is_over = true;
        co_return;
    }
    for (const auto& each : result.entries) {
        if (each.key == keys_.guard_key(used.id))
            attempted.holder->guard_index = std::max(used.guard_index, each.modify_index);
        if (each.key != attempted.key || each.session != used.id || owner_in(each.value) != owner)
            continue;
        const held_key granted{each.key, each.modify_index, attempted.holder, {}};
        static_cast<void>(co_await delete_key(granted, try_deadline()));
    }
}

asio::awaitable<void> lock_client::undo(std::shared_ptr<lock_client> self, std::string owner,
                                        held_key attempted) {
    const core::in_flight::guard operation(self->operations_);
    core::back_off pauses(*self->context_.time, undo_pauses);
    core::wakeup pause_timer(*self->context_.time, self->context_.strand);
    while (!self->is_forked() && !attempted.holder->is_over && !self->is_closing_) {
        try {
            co_await self->undo_once(owner, attempted);
            co_return;
        } catch (const std::exception&) {}  // repeated
        co_await pause_timer.wait_until(self->now() + pauses.next_pause());
    }
}

void lock_client::plan_sweep(time_point deadline) {
    const bool is_running = next_sweep_ != time_point::max();
    if (is_running && next_sweep_ <= deadline) return;
    next_sweep_ = deadline;
    if (is_running)
        sweeper_wakeup_.notify();
    else
        asio::co_spawn(context_.strand, sweep(shared_from_this()), asio::detached);
}

asio::awaitable<void> lock_client::sweep(std::shared_ptr<lock_client> self) {
    while (!self->is_closing_ && !self->is_forked()) {
        const auto now = self->now();
        auto next = time_point::max();
        for (auto position = self->holds_.begin(); position != self->holds_.end();) {
            const auto current = position++;
            if (current->second.deadline > now) {
                next = std::min(next, current->second.deadline);
                continue;
            }
            self->end_in_background(current->second);
            self->holds_.erase(current);
        }
        self->next_sweep_ = next;
        if (next == time_point::max()) co_return;
        co_await self->sweeper_wakeup_.wait_until(next);
    }
    self->next_sweep_ = time_point::max();
}

}  // namespace pawl::consul
