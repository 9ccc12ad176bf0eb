// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_store.hpp"

#include "core/util/clock_token.hpp"

#include <algorithm>

namespace pawl::memory {

// The rows of one lock during one step. The destructor ends the step.
class lock_store::rows {
public:
    using client_type = row_client;
    // A waiter of this process needs no confirmation.
    static constexpr duration claim_window = duration::max();

    rows(lock_store& store, std::string_view name, runtime& time, row_client client)
        : store_(store),
          position_(store.entries_.try_emplace(std::string(name)).first),
          time_(time),
          now_(time.now()),
          client_(std::move(client)) {
        std::erase_if(holders(), [this](const auto& each) { return each.expires <= now_; });
    }
    // A new first waiter is notified, because only the first waiter waits for the earliest end of a
    // lease.
    ~rows() {
        try {
            if (has_first_changed_ && !queue().empty()) notify_waiter(queue().front());
        } catch (const std::bad_alloc&) {}  // the next request serves the queue
        if (holders().empty() && queue().empty()) store_.entries_.erase(position_);
    }
    rows(const rows&) = delete;
    rows& operator=(const rows&) = delete;

    [[nodiscard]] time_point now() const noexcept { return now_; }
    void notify_losses_of(loss_reason reason) noexcept { reason_ = reason; }

    std::vector<core::holder_row<row_client>>& holders() noexcept {
        return position_->second.holders;
    }
    void insert_holder(const core::holder_row<row_client>&) {}
    void erase_holder(const std::string&) {}
    void downgrade_holder(const core::holder_row<row_client>&) {}
    void erase_expired_holders() {}
    bool renew_holder(const std::string& owner, lock_mode mode, time_point expires) {
        for (auto& each : holders()) {
            if (each.owner != owner || each.mode != mode) continue;
            each.expires = expires;
            return true;
        }
        return false;
    }

    const core::waiter_row<row_client>* first_waiter() const noexcept {
        const auto& queue = position_->second.queue;
        return queue.empty() ? nullptr : &queue.front();
    }
    void enqueue(const core::waiter_row<row_client>& waiter) { queue().push_back(waiter); }
    bool refresh_waiter(const std::string& owner) { return find_waiter(owner) != queue().end(); }
    void erase_waiter(const std::string& owner) {
        const auto place = find_waiter(owner);
        if (place == queue().end()) return;
        has_first_changed_ = has_first_changed_ || place == queue().begin();
        queue().erase(place);
    }
    void erase_first_waiter(const core::waiter_row<row_client>&) {
        has_first_changed_ = true;
        queue().pop_front();
    }
    std::uint64_t count_waiters() { return queue().size(); }

    std::uint32_t total_permits() const {
        const auto total = store_.total_permits_.find(position_->first);
        return total == store_.total_permits_.end() ? 0 : total->second;
    }
    void set_total_permits(std::uint32_t total) {
        store_.total_permits_.insert_or_assign(position_->first, total);
    }
    core::waiter_row<row_client> row_of(const claim& requested) const {
        return {core::share_of(requested), requested.owner, client_,
                client_.client.lock()->client_identity, requested.ttl};
    }
    static bool is_alive(const row_client&) noexcept { return true; }
    static bool may_grant() noexcept { return true; }
    fencing_token next_token() {
        const auto clock_value = static_cast<std::uint64_t>(core::clock_token(wall_clock()));
        store_.last_token_ = std::max(store_.last_token_ + 1, clock_value);
        return fencing_token(store_.last_token_);
    }
    std::chrono::system_clock::time_point wall_clock() const { return time_.wall_clock(); }

    // The wakeup belongs to the waiter's strand, and this may run on another strand.
    static void notify_waiter(const core::waiter_row<row_client>& waiter) {
        const auto client = waiter.client.client.lock();
        if (!client) return;
        client->post([weak = waiter.client.wakeup] {
            if (const auto wakeup = weak.lock()) wakeup->notify();
        });
    }
    void notify_loss(const core::holder_row<row_client>& victim) const {
        const auto victim_client = victim.client.client.lock();
        if (!victim_client) return;
        victim_client->post([weak = victim.client.client, owner = victim.owner, reason = reason_] {
            if (const auto victim_alive = weak.lock()) {
                ++victim_alive->request_counters->pushes;
                victim_alive->listener->on_loss(owner, reason);
            }
        });
    }

private:
    using waiter_list = std::list<core::waiter_row<row_client>>;

    waiter_list& queue() noexcept { return position_->second.queue; }
    waiter_list::iterator find_waiter(const std::string& owner) {
        return std::ranges::find(queue(), owner, &core::waiter_row<row_client>::owner);
    }

    lock_store& store_;
    const std::map<std::string, lock_entry, std::less<>>::iterator position_;
    runtime& time_;
    const time_point now_;
    const row_client client_;
    loss_reason reason_ = loss_reason::forced;
    bool has_first_changed_ = false;
};

namespace {

std::optional<grant> to_grant(const std::optional<core::attempt_result>& result,
                              const claim& requested) {
    if (!result || result->outcome != core::attempt_result::kind::granted) return std::nullopt;
    return grant{result->expires - drift(requested.ttl), result->token, {}, false};
}

}  // namespace

template <class Step>
auto lock_store::run(std::string_view name, runtime& time, Step step, const row_client& client) {
    const std::lock_guard lock(mutex_);
    rows rows_of_lock(*this, name, time, client);
    core::lease_table table(rows_of_lock, rows_of_lock.now());
    return step(table);
}

std::optional<grant> lock_store::try_acquire(const claim& requested,
                                             const std::shared_ptr<session>& client) {
    return run(requested.name, *client->time,
               [&](auto& table) { return to_grant(table.acquire(requested, false), requested); },
               {client, {}});
}

lock_store::wait_state lock_store::run_as_waiter(const std::shared_ptr<queued_waiter>& waiter,
                                                 bool is_new) {
    const auto& requested = waiter->requested;
    const std::shared_ptr<core::wakeup> wakeup(waiter, &waiter->wakeup);
    return run(requested.name, *waiter->client->time,
               [&](auto& table) -> wait_state {
                   const auto result =
                       is_new ? table.acquire(requested, true) : *table.refresh(requested);
                   return {to_grant(result, requested),
                           result.is_first ? result.expires : time_point::max()};
               },
               {waiter->client, wakeup});
}

lock_store::wait_state lock_store::join(const std::shared_ptr<queued_waiter>& waiter) {
    return run_as_waiter(waiter, true);
}

lock_store::wait_state lock_store::refresh(const std::shared_ptr<queued_waiter>& waiter) {
    return run_as_waiter(waiter, false);
}

void lock_store::leave(const std::shared_ptr<queued_waiter>& waiter, bool keep_grant) noexcept {
    try {
        run(waiter->requested.name, *waiter->client->time,
            [&](auto& table) { return table.leave(waiter->requested, keep_grant); });
    } catch (const std::bad_alloc&) {}  // the next request serves the queue
}

bool lock_store::renew(const claim& requested, duration ttl, session& client) {
    return run(requested.name, *client.time,
               [&](auto& table) { return table.renew(requested, ttl); });
}

release_result lock_store::release(const claim& requested, session& client) {
    return run(requested.name, *client.time,
               [&](auto& table) { return *table.release(requested); });
}

std::optional<grant> lock_store::downgrade(const claim& requested, session& client) {
    return run(requested.name, *client.time, [&](auto& table) {
        auto result = to_grant(table.downgrade(requested), requested);
        if (result && !requested.fenced) result->token = {};
        return result;
    });
}

void lock_store::resize(std::string_view name, std::uint32_t permits, session& client) {
    run(name, *client.time, [&](auto& table) { table.resize(permits); });
}

bool lock_store::force_release(std::string_view name, fencing_token expected, session& client) {
    return run(name, *client.time, [&](auto& table) { return table.force_release(expected); });
}

// A test has no clock of its own, so that of the holder's client counts.
bool lock_store::end_holds(std::string_view name, loss_reason reason) {
    const std::lock_guard lock(mutex_);
    const auto position = entries_.find(name);
    if (position == entries_.end() || position->second.holders.empty()) return false;
    const auto client = position->second.holders.front().client.client.lock();
    rows rows_of_lock(*this, name, client ? *client->time : real_runtime(), {});
    rows_of_lock.notify_losses_of(reason);
    return core::lease_table(rows_of_lock, rows_of_lock.now()).force_release({});
}

void lock_store::end_all_holds(loss_reason reason) {
    std::vector<std::string> names;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [name, entry] : entries_)
            names.push_back(name);
    }
    for (const auto& each : names)
        end_holds(each, reason);
}

lock_info lock_store::inspect(std::string_view name, session& client) {
    return run(name, *client.time, [&](auto& table) { return table.describe(std::string(name)); });
}

std::vector<lock_info> lock_store::list(std::string_view prefix, session& client) {
    const std::lock_guard lock(mutex_);
    std::vector<lock_info> locks;
    for (auto position = entries_.lower_bound(prefix);
         position != entries_.end() && position->first.starts_with(prefix);) {
        const auto name = position++->first;
        rows rows_of_lock(*this, name, *client.time, {});
        if (rows_of_lock.holders().empty()) continue;
        locks.push_back(core::lease_table(rows_of_lock, rows_of_lock.now()).describe(name));
    }
    return locks;
}

}  // namespace pawl::memory
