// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How holds end, and how the engine is closed.
#include "engine.hpp"

#include "../lease/loss_reasons.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>

namespace asio = boost::asio;

namespace pawl::core {
namespace {

detail::outcome aborted(const char* message) noexcept {
    detail::outcome ended{asio::error::operation_aborted, {}};
    try {
        ended.message = message;
    } catch (const std::bad_alloc&) {}  // the code is enough
    return ended;
}

constexpr auto released_first = "The lock was released before it was lost.";

}  // namespace

void release_handle(handle_id handle) noexcept {
    const auto lease = std::move(handle.lease);
    if (lease->is_forked() || lease->is_released()) return;
    try {
        lease->owning_engine()->release_in_background({lease, handle.number});
    } catch (...) {
        lease->mark_orphaned();
    }
}

// A callback of a loss may destroy its handle at any time, so the mutex keeps the event loop alive
// for this post.
void engine::release_in_background(const handle_id& handle) {
    const std::lock_guard lock(abandon_mutex_);
    if (is_abandoned_) return;
    asio::post(strand_,
               [released = handle] { released.lease->owning_engine()->release(released, {}); });
}

void engine::release(const handle_id& released, lease::release_handler handler) {
    const auto& lease = released.lease;
    if (is_forked()) {
        if (handler) completions_.complete(std::move(handler), release_result::unknown);
        return;
    }
    // If `remove_handle` returns false, other handles of the lock_owner are left.
    if (!lease->remove_handle(released.number)) {
        const auto result = lease->state() == lock_state::lost
                                ? release_result_of_lost(lease->why_lost())
                                : release_result::still_held;
        if (handler) completions_.complete(std::move(handler), result);
        return;
    }
    if (lease->release_outcome) {
        if (handler) completions_.complete(std::move(handler), *lease->release_outcome);
        return;
    }
    if (handler) releases_.add_handler(lease, std::move(handler));
    if (std::exchange(lease->is_releasing, true)) return;
    end_hold(lease);
}

void engine::end_hold(const std::shared_ptr<lease>& lease) noexcept {
    const bool was_kept = keeper_->drop(lease);
    if (lease->mark_released()) {
        if (!lease->loss_waits.empty())
            complete_loss_waits(*lease, aborted(released_first), loss_reason::none);
        releases_.begin(lease);
    } else {
        if (was_kept) report_loss(lease);
        releases_.finish(lease, release_result_of_lost(lease->why_lost()));
    }
}

// A handler that cannot be called, for lack of memory, does not keep the others from being called.
void engine::complete_loss_waits(lease& lease, const detail::outcome& ended,
                                 loss_reason reason) const noexcept {
    for (auto& wait : std::exchange(lease.loss_waits, {})) {
        try {
            completions_.complete(std::move(wait.handler), ended, reason);
        } catch (...) {
            log_failure("a completion handler cannot be called", std::current_exception());
        }
    }
}

void engine::release_orphan(const std::shared_ptr<lease>& lease) noexcept {
    lease->is_releasing = true;
    end_hold(lease);
}

// A thread that acquires a lock twice without a lock_owner waits for itself for ever. A lock that
// is renewed while its own client waits for it may be such a lock.
void engine::warn_of_own_waiters(lease& lease) {
    const auto& claim = lease.granted_hold().claim;
    if (lease.in_keeper.warned_of_waiter || !options_.log) return;
    if (!waiting_room_.has_waiters(claim.name) && !waiting_names_.contains(claim.name)) return;
    lease.in_keeper.warned_of_waiter = true;
    options_.log("'" + claim.name +
                 "' is held by this client, and the same client waits for it; a thread that "
                 "acquires a lock which it holds waits for itself");
}

void engine::notify_close() {
    if (closing_.has_reached(close_stage::begun) && is_quiet() && !is_abandoned_) closing_.notify();
}

// Nobody was told of this loss: the work may have run without the lock.
void engine::report_late_release(lease& lease, loss_reason reason) noexcept {
    ++counters_->late_releases;
    log([&] {
        return "lost '" + lease.granted_hold().claim.name +
               "' before its release: " + describe(reason);
    });
}

void engine::begin_wait_lost(const std::shared_ptr<lease>& lease, lease::loss_handler handler) {
    const auto id = ++next_wait_;
    // Assigned here, on the caller's thread, so that a cancellation before the wait has begun on
    // the strand is not lost: its handler is posted behind the wait.
    auto slot = asio::get_associated_cancellation_slot(handler);
    if (slot.is_connected()) {
        // The slot may outlive the event loop, so the handler owns nothing of the engine.
        slot.assign([weak = std::weak_ptr(lease), id](asio::cancellation_type) {
            if (auto locked = weak.lock(); locked && !locked->owning_engine()->is_abandoned()) {
                const auto strand = locked->owning_engine()->strand_;
                asio::post(strand, [alive = std::move(locked), id] {
                    alive->owning_engine()->cancel_loss_wait(*alive, id);
                });
            }
        });
    }
    asio::dispatch(strand_, [lease, id, handler = std::move(handler)]() mutable {
        lease->owning_engine()->wait_lost(lease, id, std::move(handler));
    });
}

void engine::wait_lost(const std::shared_ptr<lease>& lease, std::uint64_t id,
                       lease::loss_handler handler) {
    if (lease->state() == lock_state::lost) {
        completions_.complete(std::move(handler), detail::outcome(), lease->why_lost());
        return;
    }
    if (lease->is_releasing) {
        completions_.complete(std::move(handler), aborted(released_first), loss_reason::none);
        return;
    }
    try {
        lease->loss_waits.reserve(lease->loss_waits.size() + 1);
    } catch (const std::bad_alloc&) {
        completions_.complete(std::move(handler),
                              detail::outcome{make_error_code(errc::exhausted), {}},
                              loss_reason::none);
        return;
    }
    lease->loss_waits.push_back({id, std::move(handler)});
}

void engine::cancel_loss_wait(lease& lease, std::uint64_t id) {
    auto& waiters = lease.loss_waits;
    const auto position = std::find_if(waiters.begin(), waiters.end(),
                                       [id](const auto& each) { return each.id == id; });
    if (position == waiters.end()) return;
    auto handler = std::move(position->handler);
    waiters.erase(position);
    completions_.complete(std::move(handler), aborted("The operation was cancelled."),
                          loss_reason::none);
}

void engine::on_loss(std::string_view owner, loss_reason reason) {
    keeper_->handle_pushed_loss(owner, reason);
}

void engine::on_possible_loss() {
    log([] { return std::string("the service may have lost locks: all of them are renewed"); });
    keeper_->confirm_all();
}

void engine::report_loss(const std::shared_ptr<lease>& lease) noexcept {
    ++counters_->losses;
    const auto reason = lease->why_lost();
    complete_loss_waits(*lease, detail::outcome(), reason);
    log([&] { return "lost '" + lease->granted_hold().claim.name + "': " + describe(reason); });
    // If one of several permits was taken over, the others are still held at the service.
    const bool may_remain =
        reason == loss_reason::expired || reason == loss_reason::max_hold ||
        (is_ended_by_service(reason) && lease->granted_hold().claim.permits > 1);
    if (may_remain) releases_.begin_after_loss(lease);
}

void engine::operation::begin() {
    if (is_cancelled_) throw boost::system::system_error(asio::error::operation_aborted);
    has_begun_ = true;
    engine_->operations_.push_back(*this);
}
void engine::operation::end() {
    if (!std::exchange(has_begun_, false)) return;
    engine_->operations_.erase(engine_->operations_.iterator_to(*this));
    engine_->notify_close();
}

// A coroutine that is cancelled before it has begun would never run, and its handler would not be
// called. So a cancellation before `begin` is only noted, and `begin` throws.
void engine::operation::cancel() {
    is_cancelled_ = true;
    if (has_begun_) signal_.emit(asio::cancellation_type::terminal);
}

// However the coroutine ends, the close handlers are called.
class engine::close_request {
public:
    explicit close_request(ptr engine) noexcept : engine_(std::move(engine)) {}
    ~close_request() {
        engine_->keeper_->stop();
        engine_->closing_.advance_to(close_stage::finished);
        for (auto& handler : engine_->closing_.take_handlers()) {
            try {
                std::move(handler)();
            } catch (...) {
                engine_->log_failure("a completion handler cannot be called",
                                     std::current_exception());
            }
        }
    }
    close_request(const close_request&) = delete;
    close_request& operator=(const close_request&) = delete;

private:
    const ptr engine_;
};

void engine::close(close_handler handler) {
    if (is_abandoned_) return;
    closing_.advance_to(close_stage::requested);
    asio::dispatch(strand_, [self = shared_from_this(), closed = std::move(handler)]() mutable {
        if (self->closing_.has_reached(close_stage::finished)) {
            if (closed) std::move(closed)();
            return;
        }
        self->closing_.add_handler(std::move(closed));
        if (self->closing_.has_reached(close_stage::begun)) return;
        self->closing_.advance_to(close_stage::begun);
        try {
            asio::co_spawn(self->strand_, self->run_close(self), asio::detached);
        } catch (...) {
            // Without memory, nothing is released: the holds end with their leases.
            self->closing_.advance_to(close_stage::closed);
            self->keeper_->stop();
            self->closing_.advance_to(close_stage::drained);
            self->releases_.drop_queued();
            const close_request request(self);
        }
    });
}

// `self` is a parameter: the coroutine may outlive the call that starts it, and then has the last
// reference to the engine.
asio::awaitable<void> engine::run_close(ptr self) {
    const close_request request(std::move(self));
    closing_.advance_to(close_stage::closed);
    // The cancellation of an operation may end and remove other operations. It may also fail, for
    // lack of memory; the operation then ends when the backend closes.
    operation_list to_cancel;
    to_cancel.swap(operations_);
    while (!to_cancel.empty()) {
        auto& next = to_cancel.front();
        operations_.splice(operations_.end(), to_cancel, to_cancel.begin());
        try {
            next.cancel();
        } catch (...) {
            log_failure("an operation cannot be cancelled", std::current_exception());
        }
    }
    while (const auto lease = keeper_->first()) {
        keeper_->drop(lease);
        if (lease->is_releasing) continue;
        lease->is_releasing = true;
        const bool was_held =
            lease->lose(is_forked() ? loss_reason::forked : loss_reason::client_closed);
        report_loss(lease);
        if (was_held)
            releases_.begin(lease);
        else
            releases_.finish(lease, release_result_of_lost(lease->why_lost()));
    }
    keeper_->stop();
    // A cancelled operation first begins to undo its request; the backend then waits for the undo.
    // In a fork nothing is sent, so there is nothing to wait for.
    const auto give_up_at = plus(time().now(), is_forked() ? duration{} : options_.drain);
    while (!is_quiet() && time().now() < give_up_at)
        co_await closing_.wait_until(give_up_at);
    closing_.advance_to(close_stage::drained);
    releases_.drop_queued();
    co_await backend_->close(give_up_at);
}

}  // namespace pawl::core
