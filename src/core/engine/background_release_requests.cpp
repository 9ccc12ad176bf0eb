// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Needs the engine, whose header needs the class: so these members have a file of their own.
#include "background_releases.hpp"

#include "../lease/loss_reasons.hpp"
#include "engine.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <exception>
#include <new>
#include <utility>

namespace asio = boost::asio;

namespace pawl::core {

// Without memory to keep the handler, its result is `unknown` at once. The lock is released all the
// same.
void background_releases::add_handler(const std::shared_ptr<lease>& lease,
                                      lease::release_handler handler) {
    try {
        lease->release_handlers.reserve(lease->release_handlers.size() + 1);
        if (!lease->is_in_release_list()) being_released_.push_back(*lease);
        lease->release_handlers.push_back(std::move(handler));
    } catch (const std::bad_alloc&) {
        completions_.complete(std::move(handler), release_result::unknown);
    }
}

void background_releases::begin(const std::shared_ptr<lease>& lease) noexcept {
    try {
        send_or_queue(lease);
    } catch (...) {
        engine_.log_failure("a release cannot begin", std::current_exception());
        finish(lease, release_result::unknown);
    }
}

// However the coroutine ends, the release handlers get a result.
class background_releases::release_request {
public:
    release_request(background_releases& parent, std::shared_ptr<lease> lease) noexcept
        : parent_(parent), lease_(std::move(lease)) {}
    ~release_request() {
        if (!lease_->owning_engine()->is_abandoned()) parent_.finish(lease_, result);
    }
    release_request(const release_request&) = delete;
    release_request& operator=(const release_request&) = delete;

    [[nodiscard]] const hold& granted_hold() const noexcept { return lease_->granted_hold(); }

    release_result result = release_result::unknown;

private:
    background_releases& parent_;
    const std::shared_ptr<lease> lease_;
};

// Counts a coroutine that `close` waits for: one that sends queued releases, or one that releases a
// lost lease. The number of lost leases has no bound. The senders have a limit, so they are also
// counted by themselves.
class background_releases::releaser {
public:
    enum class task : std::uint8_t { queued_releases, lost_lease };
    releaser(background_releases& parent, task assigned)
        : engine_(parent.engine_.shared_from_this()), parent_(parent), task_(assigned) {
        ++parent_.releasers_;
        if (task_ == task::queued_releases) ++parent_.release_senders_;
    }
    releaser(releaser&&) noexcept = default;
    releaser& operator=(releaser&&) = delete;
    ~releaser() {
        if (!engine_) return;
        --parent_.releasers_;
        if (task_ == task::queued_releases) --parent_.release_senders_;
        engine_->notify_close();
    }

private:
    engine::ptr engine_;
    background_releases& parent_;
    task task_;
};

void background_releases::send_or_queue(const std::shared_ptr<lease>& lease) {
    if (closing_.has_reached(close_stage::drained) || engine_.is_forked()) {
        finish(lease, release_result::unknown);
    } else if (!closing_.has_reached(close_stage::requested)) {
        asio::co_spawn(engine_.inline_strand(), send(lease), asio::detached);
    } else {
        // The coroutine may begin and end inside co_spawn, so the lease is queued first.
        to_release_.push_back(lease);
        if (release_senders_ >= engine::most_releases_at_close) return;
        releaser sender(*this, releaser::task::queued_releases);
        asio::co_spawn(engine_.strand(), send_queued(std::move(sender)), asio::detached);
    }
}

asio::awaitable<void> background_releases::send_queued([[maybe_unused]] releaser counted) {
    while (!to_release_.empty()) {
        release_request request(*this, std::move(to_release_.front()));
        to_release_.pop_front();
        try {
            request.result = co_await engine_.live_backend().release(request.granted_hold());
        } catch (...) {
            engine_.log_failure("a release failed", std::current_exception());
        }
    }
}

void background_releases::drop_queued() noexcept {
    for (; !to_release_.empty(); to_release_.pop_front())
        finish(to_release_.front(), release_result::unknown);
}

asio::awaitable<void> background_releases::send(std::shared_ptr<lease> lease) {
    // `close` was called in between: the release joins the bounded queue of `send_or_queue`.
    if (closing_.has_reached(close_stage::requested)) {
        begin(lease);
        co_return;
    }
    // A release that arrives too late is no failure: the service answers `expired`.
    release_request request(*this, lease);
    try {
        request.result = co_await engine_.live_backend().release(lease->granted_hold());
    } catch (...) {
        engine_.log_failure("a release failed", std::current_exception());
    }
}

void background_releases::finish(const std::shared_ptr<lease>& lease,
                                 release_result result) noexcept {
    lease->release_outcome = result;
    const auto reason = loss_found_by(result);
    if (reason != loss_reason::none && lease->lose_at_release(reason))
        engine_.report_late_release(*lease, reason);
    lease->leave_release_list();
    for (auto& handler : std::exchange(lease->release_handlers, {})) {
        try {
            completions_.complete(std::move(handler), result);
        } catch (...) {
            engine_.log_failure("a completion handler cannot be called", std::current_exception());
        }
    }
}

void background_releases::begin_after_loss(const std::shared_ptr<lease>& lease) noexcept {
    try {
        releaser counted(*this, releaser::task::lost_lease);
        asio::co_spawn(engine_.strand(), release_lost(lease, std::move(counted)), asio::detached);
    } catch (...) {
        engine_.log_failure("the release of a lost lock cannot begin", std::current_exception());
    }
}

// The service may still have a lost hold, so this releases the hold, and the queue moves on. A
// holder that was notified before its deadline may act until then, so the release waits for it.
// A hold that was `taken_over` comes here only if it has several permits. Another holder already
// has some of them, so there is no need to wait before the rest is released. `close` waits for
// this coroutine, too.
asio::awaitable<void> background_releases::release_lost(std::shared_ptr<lease> lease,
                                                        [[maybe_unused]] releaser counted) {
    try {
        wakeup deadline(engine_.time(), engine_.strand());
        const bool may_still_act = lease->has_handles() && !is_ended_by_service(lease->why_lost());
        if (may_still_act) co_await deadline.wait_until(lease->deadline());
        if (closing_.has_reached(close_stage::drained)) co_return;
        (void)co_await engine_.live_backend().release(lease->granted_hold());
    } catch (...) {
        engine_.log_failure("the release of a lost lock failed", std::current_exception());
    }
}

std::deque<std::shared_ptr<lease>> background_releases::take_queued() {
    return std::exchange(to_release_, {});
}

void background_releases::move_handlers_to(std::vector<lease::release_handler>& handlers) {
    for (; !being_released_.empty(); being_released_.pop_front())
        for (auto& wait : std::exchange(being_released_.front().release_handlers, {}))
            handlers.push_back(std::move(wait));
}

}  // namespace pawl::core
