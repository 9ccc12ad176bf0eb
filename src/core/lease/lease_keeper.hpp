// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Renews the leases of one client in time, in few requests, and reports every loss.
#pragma once

#include "../util/wakeup.hpp"
#include "lease.hpp"

#include <pawl/error.hpp>

#include <boost/intrusive/set.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::core {

// Renews each lease after every third of its ttl, without a wait for the answers to the last
// renewals (`backend::unanswered_renewals` of them at most), and repeats a failed renewal while
// there is time. An answer counts if it comes before the deadline, whichever renewal it is about.
// Marks the lease at_risk after two thirds, and lost just before the deadline. Used on one strand.
// See docs/contributing/internals.md, "The life of a hold".
class lease_keeper {
public:
    using hook = std::function<void(const std::shared_ptr<lease>&)>;
    struct hooks {
        // From the keeper to the engine: a kept lease is lost. Called once for each lease.
        hook on_lease_lost;
        hook on_orphan;   // called for a lease without handles, which must be released
        hook on_renewal;  // called before each renewal, except by `renew_now`; may end the hold
    };

    lease_keeper(runtime& time, boost::asio::any_io_executor strand, backend& backend,
                 counter& renewals, hooks callbacks);
    ~lease_keeper();
    lease_keeper(const lease_keeper&) = delete;
    lease_keeper& operator=(const lease_keeper&) = delete;

    // Creates the timer of the keeper's coroutine before a lock is requested.
    void prepare() { wakeup_.prepare(); }

    // The place of a lease whose claim is requested. It is made before the request, so that nothing
    // can fail between the grant and the first renewal. The destructor gives the place up if there
    // was no grant.
    class reservation {
    public:
        reservation(lease_keeper& keeper, std::shared_ptr<lease> lease);
        ~reservation();
        reservation(reservation&& other) noexcept
            : keeper_(other.keeper_), lease_(std::exchange(other.lease_, nullptr)) {}
        reservation& operator=(reservation&&) = delete;

        // The claim of the present attempt.
        [[nodiscard]] const claim& requested() const noexcept {
            return lease_->granted_hold().claim;
        }
        // The claim gets another owner, since the service may still have the last attempt's
        // request. A loss that was reported of the last owner is forgotten.
        void begin_attempt(std::string owner, bool was_taken) noexcept;
        [[nodiscard]] lease_handle keep(grant grant) noexcept;

    private:
        lease_keeper& keeper_;
        std::shared_ptr<lease> lease_;  // owns the engine, and so keeps the keeper alive
    };

    // Stops keeping the lease. False: the lease was already lost or dropped.
    bool drop(const std::shared_ptr<lease>& lease);
    // From the engine to the keeper: the service has reported that the hold of `owner` is lost.
    void handle_pushed_loss(std::string_view owner, loss_reason reason);
    // From the engine to the keeper: the service may have lost any hold. Renews all leases at once,
    // but not more often than once in `min_confirmation_interval`.
    void confirm_all() noexcept;
    static constexpr duration min_confirmation_interval = std::chrono::seconds(1);
    // The kept lease that is due first; null if there is none.
    [[nodiscard]] std::shared_ptr<lease> first() const noexcept;
    // The time at which the keeper's coroutine must run next. From any thread.
    [[nodiscard]] time_point next_run() const noexcept {
        return time_point(duration(next_run_.load()));
    }

    // Both send a request at once, and repeat it while there is time. They throw errc::lost if the
    // hold ended before the answer. They must not be cancelled: the answer would be missed.
    boost::asio::awaitable<void> renew_now(std::shared_ptr<lease> lease);
    boost::asio::awaitable<void> downgrade(std::shared_ptr<lease> lease);

    // The keeper's coroutine. It ends after `stop`. `self` keeps the engine alive, which owns the
    // keeper.
    boost::asio::awaitable<void> run(std::shared_ptr<void> self);
    void stop();

private:
    class renewal_request;
    struct due_earlier {
        bool operator()(const lease& a, const lease& b) const noexcept {
            return a.in_keeper.next_due != b.in_keeper.next_due
                       ? a.in_keeper.next_due < b.in_keeper.next_due
                       : a.in_keeper.number < b.in_keeper.number;
        }
    };

    struct owner_of {
        using type = std::string_view;
        type operator()(const lease& lease) const noexcept {
            return lease.granted_hold().claim.owner;
        }
    };

    void reserve(const std::shared_ptr<lease>& lease);
    void begin_attempt(lease& lease, std::string owner, bool was_taken) noexcept;
    void keep(const std::shared_ptr<lease>& lease) noexcept;
    void forget(const std::shared_ptr<lease>& lease) noexcept;
    void renew_due(time_point now);
    bool handle_due(lease& due_lease, time_point now,
                    std::vector<std::shared_ptr<lease>>& to_renew);
    bool begin_renewal(const std::shared_ptr<lease>& due_lease,
                       std::vector<std::shared_ptr<lease>>& to_renew);
    void mark_begun(lease& lease, std::uint64_t round) noexcept;
    [[nodiscard]] bool has_room(const lease& lease) const noexcept;
    void postpone(lease& lease) noexcept;
    void send(std::span<const std::shared_ptr<lease>> to_renew);
    boost::asio::awaitable<void> wait_for_reply(std::shared_ptr<lease> lease);
    class change_mark;
    void update_order(lease& lease) noexcept;
    void set_renewal_times(lease& lease, bool is_newest) noexcept;
    void lose(const std::shared_ptr<lease>& lease, loss_reason reason);
    // The outcome for the first lease.
    boost::asio::awaitable<renewal::outcome> renew(std::vector<std::shared_ptr<lease>> leases,
                                                   std::uint64_t round);
    void settle(const std::shared_ptr<lease>& lease, const renewal& reply, std::uint64_t round);
    void advance_confirmation(lease& lease) noexcept;
    void set_next_run(time_point when) noexcept { next_run_ = when.time_since_epoch().count(); }

    runtime& time_;
    boost::asio::any_io_executor strand_;
    backend& backend_;
    counter& renewals_;
    const hooks hooks_;
    wakeup wakeup_;
    std::atomic<duration::rep> next_run_ = time_point::max().time_since_epoch().count();
    bool stopped_ = false;
    std::uint64_t reservations_ = 0;
    std::uint64_t rounds_ = 0;  // of renewals
    time_point next_confirmation_ =
        time_point::min();  // the next round begins at this time or later
    // Both sets have the same leases, which keep themselves alive while they are in the sets.
    boost::intrusive::set<lease, boost::intrusive::base_hook<owner_hook>,
                          boost::intrusive::key_of_value<owner_of>>
        by_owner_;
    boost::intrusive::set<lease, boost::intrusive::base_hook<due_hook>,
                          boost::intrusive::compare<due_earlier>>
        order_;
};

}  // namespace pawl::core
