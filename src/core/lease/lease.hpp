// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One hold and its deadline, shared by a handle, the keeper and the watchdog.
#pragma once

#include "../util/fork_mark.hpp"
#include "../util/plus.hpp"
#include "../util/spi.hpp"
#include "loss_watchdog.hpp"

#include <pawl/detail/held_lock_base.hpp>
#include <pawl/detail/initiate.hpp>
#include <pawl/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/container/small_vector.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set_hook.hpp>

#include <algorithm>
#include <atomic>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

namespace pawl::core {

class wakeup;
class engine;
class lease;

// The error for a query about a hold that has ended.
[[nodiscard]] error hold_ended(const lease& lease);

// How long before the deadline a loss is reported, so that the program can still react.
[[nodiscard]] constexpr duration loss_lead_time(duration ttl) noexcept {
    return std::min<duration>(ttl / 50, std::chrono::milliseconds(25));
}

// Releases a handle in the background. Never throws: without memory, the keeper finds at the next
// renewal that the handle is gone.
void release_handle(handle_id handle) noexcept;

// A granted lease on its way to the caller. If an exception or the end of the event loop prevents
// the public handle, the destructor releases the lease.
struct lease_handle {
    lease_handle() noexcept = default;
    explicit lease_handle(std::shared_ptr<lease> lease, std::uint32_t handle_number = 0) noexcept
        : held_lease(std::move(lease)), number(handle_number) {}
    lease_handle(lease_handle&& other) noexcept
        : held_lease(std::move(other.held_lease)), number(std::exchange(other.number, 0)) {}
    lease_handle& operator=(lease_handle&& other) noexcept {
        std::swap(held_lease, other.held_lease);
        std::swap(number, other.number);
        return *this;
    }
    ~lease_handle() {
        if (held_lease) release_handle({std::move(held_lease), number});
    }

    std::shared_ptr<lease> held_lease;
    std::uint32_t number = 0;
};

// For the keeper's two sets, and for the engine's list of leases with release handlers.
using due_hook = boost::intrusive::set_base_hook<boost::intrusive::tag<struct due_tag>>;
using owner_hook = boost::intrusive::set_base_hook<boost::intrusive::tag<struct owner_tag>>;
using release_hook =
    boost::intrusive::list_base_hook<boost::intrusive::tag<struct release_tag>,
                                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

class lease final : public std::enable_shared_from_this<lease>,
                    public watched_hold,
                    public due_hook,
                    public owner_hook,
                    public release_hook {
public:
    using release_list = boost::intrusive::list<lease, boost::intrusive::base_hook<release_hook>,
                                                boost::intrusive::constant_time_size<false>>;

    // Made before the request is sent, so that nothing can fail between the grant and the first
    // renewal.
    lease(std::shared_ptr<engine> engine, runtime& time, claim claim, duration max_hold);
    ~lease() override;
    // Before another attempt for the same claim: see `claim::owner` and `claim::was_taken`.
    void begin_attempt(std::string owner, bool was_taken) noexcept;
    void record_grant(grant grant) noexcept;

    // From any thread.
    [[nodiscard]] lock_state state() const noexcept;
    [[nodiscard]] bool is_held() const noexcept {
        const auto now = state();
        return now == lock_state::held || now == lock_state::at_risk;
    }
    [[nodiscard]] loss_reason why_lost() const noexcept;
    [[nodiscard]] time_point deadline() const noexcept {
        return time_point(duration(deadline_.load()));
    }
    // The deadline; a time in the past after a loss.
    [[nodiscard]] time_point safe_until() const noexcept;
    [[nodiscard]] std::stop_token lost() const noexcept;
    [[nodiscard]] bool is_forked() const noexcept { return made_in_.is_forked(); }
    // True once the release of the held lease has begun; the service may not have answered yet.
    [[nodiscard]] bool is_released() const noexcept {
        return status_.load().state == lock_state::released;
    }
    [[nodiscard]] const std::shared_ptr<engine>& owning_engine() const noexcept { return engine_; }
    // The name, the owner, the ttl and the token do not change after `record_grant`.
    [[nodiscard]] const hold& granted_hold() const noexcept { return hold_; }

    // Each changes the state of the hold. False: the hold had ended before; `mark_at_risk` also
    // returns false for a hold that is at risk already. From any thread.
    bool lose(loss_reason reason) noexcept;
    bool mark_released() noexcept;
    bool mark_at_risk() noexcept;
    // The release has found that the hold had ended before it. False: the hold was lost already.
    bool lose_at_release(loss_reason reason) noexcept;

    // Moves the deadline, never to an earlier time, except from the end of a claim window. False:
    // the old deadline is over, which is a loss. On the strand.
    bool extend(time_point new_deadline) noexcept;

    // Makes the hold a shared one; its stored value may be another one now. On the strand.
    void become_shared(std::string stored_value);

    [[nodiscard]] time_point end_of_max_hold() const noexcept { return end_of_max_hold_; }
    [[nodiscard]] bool deadline_is_end_of_max_hold() const noexcept {
        return deadline() == end_of_max_hold_;
    }
    // The reason for a loss at the deadline.
    [[nodiscard]] loss_reason reason_at_deadline() const noexcept {
        return deadline_is_end_of_max_hold() ? loss_reason::max_hold : loss_reason::expired;
    }

    using release_handler = boost::asio::any_completion_handler<void(release_result)>;
    using loss_handler = detail::operation_handler<loss_reason>;

    // The handles, on the strand. The first one has the number 0; the others belong to a lock_owner
    // that entered again. `remove_handle` returns true if no handle is left.
    std::uint32_t add_handle();
    bool remove_handle(std::uint32_t handle) noexcept;
    [[nodiscard]] bool has_handles() const noexcept { return first_handle_ || !handles_.empty(); }
    // A handle was destroyed and could not be released. From any thread.
    void mark_orphaned() noexcept { ++orphans_; }
    // No handle is left that could release the lease. On the strand.
    [[nodiscard]] bool is_orphaned() const noexcept {
        const auto orphans = orphans_.load();
        return orphans > 0 && orphans >= handles_.size() + (first_handle_ ? 1 : 0);
    }

    // The members below belong to the engine and the keeper, on the strand.
    std::optional<release_result> release_outcome;  // set when the release is over
    bool is_releasing = false;
    // Called when the release is over. There is seldom more than one.
    boost::container::small_vector<release_handler, 1> release_handlers;
    [[nodiscard]] bool is_in_release_list() const noexcept { return release_hook::is_linked(); }
    void leave_release_list() noexcept { release_hook::unlink(); }
    struct loss_wait {
        std::uint64_t id;
        loss_handler handler;
    };
    std::vector<loss_wait> loss_waits;
    // Notified when a request is answered, or when no answer is expected any more.
    std::vector<std::shared_ptr<wakeup>> reply_waiters;
    void notify_replied();
    struct keeper_entry {
        std::shared_ptr<lease> self;  // while the keeper has the lease
        time_point next_due{};        // when the keeper handles the lease next
        time_point renew_at{};
        time_point risk_at{};
        // The requests about the hold that have no answer yet.
        std::size_t unanswered = 0;
        // Of the newest of them. Later rounds have larger numbers.
        std::uint64_t newest_round = 0;
        // The deadline if all of them are answered.
        time_point may_last_until{};
        // A downgrade waits or is under way, so no renewal begins.
        bool is_changing = false;
        // The next renewal is not sent early, together with others: after an unanswered one, and in
        // a claim window.
        bool must_not_be_early = false;
        bool is_kept = false;
        // A loss became possible after the last renewal was sent.
        bool must_confirm = false;
        // The pause before a confirming renewal is repeated. Set when that renewal is sent; zero
        // again when it is answered.
        duration confirmation_pause{};
        // A loss that the service reported before the lease was kept.
        loss_reason pushed_loss = loss_reason::none;
        // the log has a warning that the lease's own client waits for the lock
        bool warned_of_waiter = false;
        std::uint64_t number = 0;  // orders leases with the same `next_due`
    } in_keeper;

private:
    // In one atomic: a thread that sees the loss also sees its reason.
    struct status {
        lock_state state;
        loss_reason reason;
    };
    // False: the hold has ended.
    bool replace_held_status(status next) noexcept;
    [[nodiscard]] std::optional<time_point> report_at() const noexcept override;
    void lose_at_deadline() noexcept override;

    const std::shared_ptr<engine> engine_;
    runtime& time_;
    hold hold_;
    const fork_mark made_in_;
    const duration max_hold_;
    time_point end_of_max_hold_ = time_point::max();
    std::atomic<duration::rep> deadline_ = time_point::max().time_since_epoch().count();
    std::atomic<status> status_ = status{lock_state::held, loss_reason::none};
    std::stop_source stop_;
    // For the notifier. Made early, because reporting a loss must not need memory.
    std::list<std::stop_source> loss_notice_{stop_};
    std::atomic<std::size_t> orphans_ = 0;
    bool first_handle_ = true;
    std::uint32_t last_handle_ = 0;
    std::vector<std::uint32_t> handles_;
};

// When the keeper reports the loss of a lease that is not renewed.
[[nodiscard]] inline time_point loss_time(const lease& lease) noexcept {
    return lease.deadline() - loss_lead_time(lease.granted_hold().claim.ttl);
}

[[nodiscard]] inline bool is_kept_in_this_process(const lease& lease) {
    return lease.in_keeper.is_kept && !lease.is_forked();
}

}  // namespace pawl::core
