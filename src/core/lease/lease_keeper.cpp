// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lease_keeper.hpp"

#include "downgrade_request.hpp"
#include "loss_watchdog.hpp"
#include "renewal_times.hpp"

#include <pawl/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>

namespace asio = boost::asio;

namespace pawl::core {
namespace {

// The pause after the first unanswered confirmation. Each further pause is twice as long, up to a
// twentieth of the ttl.
constexpr duration first_confirmation_pause = std::chrono::milliseconds(250);
// The pause before the first renewal of a grant that must be claimed.
constexpr duration longest_claim_pause = std::chrono::milliseconds(150);

std::vector<renewal> renewals_of(std::span<const std::shared_ptr<lease>> leases, time_point now,
                                 const capabilities& capabilities) {
    std::vector<renewal> renewals(leases.size());
    for (std::size_t i = 0; i < leases.size(); ++i) {
        auto& each = renewals[i];
        auto& may_last_until = leases[i]->in_keeper.may_last_until;
        each.held = &leases[i]->granted_hold();
        each.ttl = renewal_ttl(*leases[i], now, capabilities);
        each.useful_until = std::max(leases[i]->deadline(), may_last_until);
        may_last_until = std::max(each.useful_until, now + each.ttl - drift(each.ttl));
    }
    return renewals;
}

}  // namespace

lease_keeper::lease_keeper(runtime& time, asio::any_io_executor strand, backend& backend,
                           counter& renewals, hooks callbacks)
    : time_(time),
      strand_(std::move(strand)),
      backend_(backend),
      renewals_(renewals),
      hooks_(std::move(callbacks)),
      wakeup_(time, strand_) {}

// Leases whose engine is not destroyed with the keeper would keep themselves alive for ever.
lease_keeper::~lease_keeper() {
    while (!order_.empty()) {
        const auto kept = order_.begin()->in_keeper.self;
        forget(kept);
    }
}

void lease_keeper::keep(const std::shared_ptr<lease>& lease) noexcept {
    lease->in_keeper.is_kept = true;
    if (!lease->granted_hold().grant.needs_renewal) {
        set_renewal_times(*lease, true);
    } else {
        // The deadline is the end of a claim window, so thirds of the ttl do not apply. The first
        // renewal comes a little after the grant: a caller that releases at once needs none.
        const auto now = time_.now();
        const auto window = lease->deadline() - now;
        lease->in_keeper.renew_at = now + std::min(window / 8, longest_claim_pause);
        lease->in_keeper.risk_at = now + window / 2;
        lease->in_keeper.must_not_be_early = true;
        update_order(*lease);
    }
    if (lease->in_keeper.pushed_loss != loss_reason::none) {
        lease->in_keeper.renew_at = time_.now();  // `handle_due` then reports the loss
        update_order(*lease);
    }
    if (time_.is_real_time()) loss_watchdog::instance().watch(*lease);
}

void lease_keeper::forget(const std::shared_ptr<lease>& lease) noexcept {
    order_.erase(order_.iterator_to(*lease));
    by_owner_.erase(by_owner_.iterator_to(*lease));
    lease->in_keeper.self.reset();
}

bool lease_keeper::drop(const std::shared_ptr<lease>& lease) {
    if (!std::exchange(lease->in_keeper.is_kept, false)) return false;
    if (time_.is_real_time() && !lease->is_forked()) loss_watchdog::instance().forget(*lease);
    lease->notify_replied();
    forget(lease);
    return true;
}

std::shared_ptr<lease> lease_keeper::first() const noexcept {
    for (const auto& each : order_)
        if (each.in_keeper.is_kept) return each.in_keeper.self;
    return nullptr;
}

// A renewal in flight may have been executed before the loss, so another one follows it: at once,
// or after the next answer if there is no room for it.
void lease_keeper::confirm_all() noexcept {
    for (auto& held_lease : by_owner_) {
        if (!held_lease.in_keeper.is_kept || std::exchange(held_lease.in_keeper.must_confirm, true))
            continue;
        if (has_room(held_lease)) advance_confirmation(held_lease);
    }
}

void lease_keeper::advance_confirmation(lease& lease) noexcept {
    if (!lease.in_keeper.must_confirm) return;
    const auto earliest = std::max(time_.now(), next_confirmation_);
    lease.in_keeper.renew_at = std::min(lease.in_keeper.renew_at, earliest);
    update_order(lease);
}

// The thirds of the ttl begin at the time from which the present deadline was computed.
void lease_keeper::set_renewal_times(lease& lease, bool is_newest) noexcept {
    const auto ttl = lease.granted_hold().claim.ttl;
    const auto begin = lease.deadline() + drift(ttl) - ttl;
    const bool is_final = lease.deadline_is_end_of_max_hold();
    lease.in_keeper.risk_at = is_final ? time_point::max() : begin + ttl * 2 / 3;
    // After the answer to an older renewal, the newest one decides when the next is due.
    if (is_newest) {
        lease.in_keeper.must_not_be_early = false;
        lease.in_keeper.renew_at = is_final ? time_point::max() : begin + ttl / 3;
    }
    update_order(lease);
}

// While the most renewals are unanswered, none is sent. If the service stays silent, the hold ends
// at its deadline.
bool lease_keeper::has_room(const lease& lease) const noexcept {
    const auto most = std::max<std::size_t>(backend_.unanswered_renewals(), 1);
    return !lease.in_keeper.is_changing && lease.in_keeper.unanswered < most;
}

void lease_keeper::mark_begun(lease& lease, std::uint64_t round) noexcept {
    auto& entry = lease.in_keeper;
    if (entry.unanswered++ == 0) entry.may_last_until = lease.deadline();
    entry.newest_round = round;
    entry.renew_at = lease.deadline_is_end_of_max_hold()
                         ? time_point::max()
                         : time_.now() + lease.granted_hold().claim.ttl / 3;
}

void lease_keeper::update_order(lease& lease) noexcept {
    const auto renew_at = has_room(lease) ? lease.in_keeper.renew_at : time_point::max();
    order_.erase(order_.iterator_to(lease));
    lease.in_keeper.next_due = std::min({renew_at, lease.in_keeper.risk_at, loss_time(lease)});
    order_.insert(lease);
    if (lease.in_keeper.next_due < next_run()) {
        set_next_run(lease.in_keeper.next_due);
        wakeup_.notify();
    }
}

void lease_keeper::lose(const std::shared_ptr<lease>& lease, loss_reason reason) {
    if (!drop(lease)) return;
    lease->lose(reason);
    // The watchdog, or `extend` after the deadline, may have set the loss first.
    if (lease->state() == lock_state::lost) hooks_.on_lease_lost(lease);
}

asio::awaitable<void> lease_keeper::run(std::shared_ptr<void> self) {
    while (!stopped_) {
        bool short_of_memory = false;
        const auto now = time_.now();
        const auto planned = next_run();
        try {
            renew_due(now);
        } catch (const std::bad_alloc&) {
            short_of_memory = true;
        }
        auto next = order_.empty() ? time_point::max() : order_.begin()->in_keeper.next_due;
        // Does not wait longer than planned, even if the lease has been released meanwhile.
        // Otherwise each short hold would end this wait and begin another one.
        if (planned > now) next = std::min(next, planned);
        if (short_of_memory) next = std::max(next, time_.now() + std::chrono::milliseconds(5));
        set_next_run(next);
        co_await wakeup_.wait_until(next);
    }
    self.reset();
}

void lease_keeper::stop() {
    stopped_ = true;
    wakeup_.notify();
}

void lease_keeper::renew_due(time_point now) {
    std::vector<std::shared_ptr<lease>> to_renew;
    ++rounds_;
    set_next_run(time_point::min());  // `update_order` must not wake the coroutine that runs now
    try {
        while (!order_.empty() && handle_due(*order_.begin(), now, to_renew)) {}
    } catch (const std::bad_alloc&) {
        send(to_renew);
        throw;
    }
    send(to_renew);
}

// False: no lease is due.
bool lease_keeper::handle_due(lease& due_lease, time_point now,
                              std::vector<std::shared_ptr<lease>>& to_renew) {
    if (due_lease.in_keeper.is_kept && due_lease.is_forked()) {
        lose(due_lease.shared_from_this(), loss_reason::forked);
        return true;
    }
    if (due_lease.in_keeper.is_kept && due_lease.in_keeper.pushed_loss != loss_reason::none) {
        lose(due_lease.shared_from_this(), due_lease.in_keeper.pushed_loss);
        return true;
    }
    const bool renewing =
        has_room(due_lease) && due_lease.in_keeper.next_due == due_lease.in_keeper.renew_at;
    // Leases that are nearly due are renewed in the same request, so many locks need few requests.
    // Leases that pause after a failure, or wait for the next round of confirmations, are not: a
    // service that fails at once, or restarts all the time, would get requests without a pause.
    const bool may_be_early =
        renewing && !due_lease.in_keeper.must_not_be_early && !due_lease.in_keeper.must_confirm;
    if (!due_lease.in_keeper.is_kept ||
        due_lease.in_keeper.next_due >
            now + (may_be_early ? due_lease.granted_hold().claim.ttl / 6 : duration{}))
        return false;
    const auto held_lease = due_lease.shared_from_this();
    if (now >= loss_time(due_lease)) {
        lose(held_lease, due_lease.reason_at_deadline());
        return true;
    }
    if (due_lease.is_orphaned()) {
        hooks_.on_orphan(held_lease);
        return true;
    }
    if (now >= due_lease.in_keeper.risk_at) {
        due_lease.mark_at_risk();
        due_lease.in_keeper.risk_at = time_point::max();
    }
    const bool was_begun = !renewing || begin_renewal(held_lease, to_renew);
    if (!due_lease.in_keeper.is_kept) return true;  // the hook has ended the hold
    if (was_begun)
        update_order(due_lease);
    else
        postpone(due_lease);
    return true;
}

// False: there was no memory. The caller continues with the other leases.
bool lease_keeper::begin_renewal(const std::shared_ptr<lease>& due_lease,
                                 std::vector<std::shared_ptr<lease>>& to_renew) {
    try {
        hooks_.on_renewal(due_lease);
        if (!due_lease->in_keeper.is_kept) return true;
        to_renew.push_back(due_lease);
    } catch (const std::bad_alloc&) {
        return false;
    }
    mark_begun(*due_lease, rounds_);
    if (std::exchange(due_lease->in_keeper.must_confirm, false)) {
        due_lease->in_keeper.confirmation_pause = first_confirmation_pause;
        next_confirmation_ = plus(time_.now(), min_confirmation_interval);
    }
    return true;
}

void lease_keeper::postpone(lease& lease) noexcept {
    lease.in_keeper.must_not_be_early = true;
    const auto now = time_.now();
    const auto pause = retry_pause(lease, now);
    if (lease.in_keeper.confirmation_pause > duration{})
        lease.in_keeper.confirmation_pause = 2 * pause;
    lease.in_keeper.renew_at = now + pause;
    update_order(lease);
}

// Renewals that cannot begin count as unanswered.
void lease_keeper::send(std::span<const std::shared_ptr<lease>> to_renew) {
    const auto most = std::max<std::size_t>(backend_.renewals_at_once(), 1);
    while (!to_renew.empty()) {
        const auto share = to_renew.first(std::min(to_renew.size(), most));
        to_renew = to_renew.subspan(share.size());
        try {
            std::vector<std::shared_ptr<lease>> batch(share.begin(), share.end());
            asio::co_spawn(strand_, renew(std::move(batch), rounds_), asio::detached);
        } catch (const std::bad_alloc&) {
            for (const auto& each : share)
                settle(each, {}, rounds_);
        }
    }
}

// However the request ends, its leases stop waiting for the answer: a lease that kept waiting would
// never be renewed again. That includes a coroutine that Asio destroys because there is no memory.
// The leases keep their engine alive, and the engine the keeper.
class lease_keeper::renewal_request final : public renewal_batch {
public:
    renewal_request(lease_keeper& keeper, std::vector<std::shared_ptr<lease>> leases,
                    std::uint64_t round) noexcept
        : keeper_(keeper), leases_(std::move(leases)), round_(round) {}
    ~renewal_request() override {
        for (std::size_t i = 0; i < leases_.size(); ++i) {
            if (renewals().empty() || !renewals()[i].is_settled) settle_lease(i, {});
        }
    }

    // Before the request is sent. Without memory for it, all renewals are unknown.
    void prepare() {
        assign(renewals_of(leases_, keeper_.time_.now(), keeper_.backend_.capabilities()));
    }

private:
    void on_settled(std::size_t index) noexcept override { settle_lease(index, renewals()[index]); }
    void settle_lease(std::size_t index, const renewal& reply) noexcept {
        const auto& settled = leases_[index];
        try {
            keeper_.settle(settled, reply, round_);
        } catch (...) {
            if (settled->in_keeper.is_kept) keeper_.update_order(*settled);
        }
    }

    lease_keeper& keeper_;
    const std::vector<std::shared_ptr<lease>> leases_;
    const std::uint64_t round_;
};

asio::awaitable<renewal::outcome> lease_keeper::renew(std::vector<std::shared_ptr<lease>> leases,
                                                      std::uint64_t round) {
    renewal_request request(*this, std::move(leases), round);
    try {
        request.prepare();
        co_await backend_.renew(request);
        ++renewals_;
    } catch (...) {}  // the renewals that are not settled are unknown
    const auto renewals = request.renewals();
    co_return renewals.empty() ? renewal::outcome::unknown : renewals.front().result;
}

// Ends also when the lease is not kept any more.
asio::awaitable<void> lease_keeper::wait_for_reply(std::shared_ptr<lease> lease) {
    const auto reply_wakeup = std::make_shared<wakeup>(time_, strand_);
    lease->reply_waiters.push_back(reply_wakeup);
    co_await reply_wakeup->wait_until(time_point::max());
}

// A renewal that is in flight already may have been executed before this call.
asio::awaitable<void> lease_keeper::renew_now(std::shared_ptr<lease> held_lease) {
    for (;;) {
        while (is_kept_in_this_process(*held_lease) && !has_room(*held_lease))
            co_await wait_for_reply(held_lease);
        if (!is_kept_in_this_process(*held_lease)) throw hold_ended(*held_lease);
        // The batch and the coroutine are created first. If that fails, no request counts as in
        // flight.
        std::vector<std::shared_ptr<lease>> batch{held_lease};
        const auto round = ++rounds_;
        auto request = renew(std::move(batch), round);
        mark_begun(*held_lease, round);
        update_order(*held_lease);
        const auto outcome = co_await std::move(request);
        if (!is_kept_in_this_process(*held_lease)) throw hold_ended(*held_lease);
        if (outcome == renewal::outcome::extended) co_return;
        wakeup pause(time_, strand_);
        const auto now = time_.now();
        co_await pause.wait_until(now + retry_pause(*held_lease, now));
    }
}

// Until the downgrade is over, no renewal begins.
class lease_keeper::change_mark {
public:
    change_mark(lease_keeper& keeper, lease& changed) noexcept : keeper_(keeper), lease_(changed) {
        set(true);
    }
    ~change_mark() {
        set(false);
        lease_.notify_replied();
    }
    change_mark(const change_mark&) = delete;
    change_mark& operator=(const change_mark&) = delete;

private:
    void set(bool is_changing) noexcept {
        lease_.in_keeper.is_changing = is_changing;
        if (lease_.in_keeper.is_kept) keeper_.update_order(lease_);
    }
    lease_keeper& keeper_;
    lease& lease_;
};

// Waits for the answers to the renewals in flight. They have the stored value of the exclusive
// hold, so the service would refuse those that come after the downgrade, which would look like a
// loss.
asio::awaitable<void> lease_keeper::downgrade(std::shared_ptr<lease> held_lease) {
    while (is_kept_in_this_process(*held_lease) && held_lease->in_keeper.is_changing)
        co_await wait_for_reply(held_lease);
    if (!is_kept_in_this_process(*held_lease)) throw hold_ended(*held_lease);
    const change_mark mark(*this, *held_lease);
    while (is_kept_in_this_process(*held_lease) && held_lease->in_keeper.unanswered > 0)
        co_await wait_for_reply(held_lease);
    if (!is_kept_in_this_process(*held_lease)) throw hold_ended(*held_lease);
    bool kept = false;
    bool granted = false;
    auto downgraded = held_lease->granted_hold();
    downgraded.claim.mode = lock_mode::shared;
    {
        std::vector<std::shared_ptr<lease>> batch{held_lease};
        const auto round = ++rounds_;
        renewal_request request(*this, std::move(batch), round);
        mark_begun(*held_lease, round);
        request.prepare();
        auto reply = co_await request_downgrade(backend_, time_, strand_, held_lease);
        granted = reply.has_value();
        kept = held_lease->in_keeper.is_kept;
        // If the lease is no longer kept, a release may be reading its hold, so only the copy is
        // changed.
        if (granted && !kept) downgraded.grant.stored_value = std::move(reply->stored_value);
        if (granted && kept) held_lease->become_shared(std::move(reply->stored_value));
        if (granted) {
            request.settle(0, renewal::outcome::extended, reply->deadline);
        } else {
            request.settle(0, renewal::outcome::refused);
        }
    }
    // The hold was released meanwhile as an exclusive one, which may have released nothing.
    if (!kept && granted) (void)co_await backend_.release(downgraded);
    if (!held_lease->in_keeper.is_kept) throw hold_ended(*held_lease);
}

// An answer of an older round counts, too: each proves what the service has done. A refusal of any
// round is a loss. Only a failure of the newest round is followed by a repetition, because
// otherwise a later renewal is under way or has been answered.
void lease_keeper::settle(const std::shared_ptr<lease>& lease, const renewal& reply,
                          std::uint64_t round) {
    --lease->in_keeper.unanswered;
    lease->notify_replied();
    if (!lease->in_keeper.is_kept) return;  // released or lost meanwhile
    const bool is_newest = round == lease->in_keeper.newest_round;
    switch (reply.result) {
    case renewal::outcome::extended:
        if (is_newest) lease->in_keeper.confirmation_pause = {};
        if (!lease->extend(reply.deadline)) return lose(lease, loss_reason::expired);
        set_renewal_times(*lease, is_newest);
        break;
    case renewal::outcome::refused: return lose(lease, loss_reason::taken_over);
    case renewal::outcome::missing: return lose(lease, loss_reason::missing);
    case renewal::outcome::failed_over: return lose(lease, loss_reason::failed_over);
    case renewal::outcome::unknown:
        if (is_newest) postpone(*lease);
        break;
    }
    update_order(*lease);
    advance_confirmation(*lease);
}

}  // namespace pawl::core
