// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_store.hpp"

#include "core/engine/queue_policy.hpp"
#include "core/util/clock_token.hpp"
#include "core/util/permits.hpp"

#include <algorithm>

namespace pawl::memory {
namespace {

// The wakeup belongs to the waiter's strand, and this may run on another strand.
void notify_waiter(const std::shared_ptr<lock_store::queued_waiter>& waiter) {
    waiter->client->post([weak = std::weak_ptr(waiter)] {
        if (const auto waiter_alive = weak.lock()) waiter_alive->wakeup.notify();
    });
}

}  // namespace

std::optional<grant> lock_store::try_acquire(const claim& requested,
                                             const std::shared_ptr<session>& client) {
    const auto now = client->time->now();
    const std::lock_guard lock(mutex_);
    check_permits(requested);
    const auto position = entries_.try_emplace(requested.name).first;
    expire_holders(position->second, now);
    auto& entry = position->second;
    if (!core::admits_newcomer(core::share_of(requested), !entry.queue.empty(),
                               core::occupancy_of(entry.holders), total_permits_for(requested)))
        return std::nullopt;
    return grant_lock(entry, requested, client, now);
}

lock_store::wait_state lock_store::join(const std::shared_ptr<queued_waiter>& waiter) {
    const auto now = waiter->client->time->now();
    const std::lock_guard lock(mutex_);
    check_permits(waiter->requested);
    auto& entry = entries_.try_emplace(waiter->requested.name).first->second;
    entry.queue.push_back(waiter);
    expire_holders(entry, now);
    grant_waiters(entry, now);
    return wait_state_of(entry, waiter);
}

lock_store::wait_state lock_store::refresh(const std::shared_ptr<queued_waiter>& waiter) {
    const auto now = waiter->client->time->now();
    const std::lock_guard lock(mutex_);
    if (waiter->granted) return {waiter->granted, {}};
    if (waiter->exceeds_total) {
        auto current_claim = waiter->requested;
        current_claim.total_permits = 0;  // the total was checked at the first attempt
        check_permits(current_claim);
    }
    auto& entry = entries_.try_emplace(waiter->requested.name).first->second;
    if (std::exchange(waiter->exceeds_total, false))
        entry.queue.push_back(waiter);  // the total is large enough again
    expire_holders(entry, now);
    grant_waiters(entry, now);
    return wait_state_of(entry, waiter);
}

void lock_store::leave(const std::shared_ptr<queued_waiter>& waiter, bool keep_grant) noexcept {
    const auto now = waiter->client->time->now();
    const std::lock_guard lock(mutex_);
    const auto position = entries_.find(waiter->requested.name);
    if (position == entries_.end()) return;
    auto& entry = position->second;
    const auto queue_position = std::find(entry.queue.begin(), entry.queue.end(), waiter);
    try {
        if (queue_position != entry.queue.end()) {
            const bool was_first = queue_position == entry.queue.begin();
            entry.queue.erase(queue_position);
            // The waiters behind the removed one may fit now. The new first waiter is notified,
            // because only the first waiter waits for the earliest end of a lease.
            if (was_first) grant_waiters(entry, now);
            if (was_first && !entry.queue.empty()) notify_waiter(entry.queue.front());
        } else if (const auto* holder_found = find_holder(entry, waiter->requested.owner);
                   !keep_grant && holder_found != nullptr) {
            remove_holder(entry, *holder_found, now);
        }
    } catch (const std::bad_alloc&) {}  // the next request serves the queue
    erase_if_unused(position);
}

bool lock_store::renew(const claim& requested, duration ttl, time_point now) {
    const std::lock_guard lock(mutex_);
    const auto position = entries_.find(requested.name);
    if (position == entries_.end()) return false;
    expire_holders(position->second, now);
    auto* holder_found = find_holder(position->second, requested.owner);
    // Another mode: the client does not know that its downgrade was carried out.
    const bool is_held = holder_found != nullptr && holder_found->mode == requested.mode;
    if (is_held) holder_found->expires = now + ttl;
    erase_if_unused(position);
    return is_held;
}

release_result lock_store::release(const claim& requested, time_point now) {
    const std::lock_guard lock(mutex_);
    const auto position = entries_.find(requested.name);
    if (position == entries_.end()) return release_result::expired;
    expire_holders(position->second, now);
    auto result = release_result::released;
    if (const auto* holder_found = find_holder(position->second, requested.owner);
        holder_found != nullptr) {
        remove_holder(position->second, *holder_found, now);
    } else {
        result = core::result_of_missing_hold(requested.mode,
                                              core::occupancy_of(position->second.holders));
    }
    erase_if_unused(position);
    return result;
}

std::optional<grant> lock_store::downgrade(const claim& requested, time_point now) {
    const std::lock_guard lock(mutex_);
    const auto position = entries_.find(requested.name);
    if (position == entries_.end()) return std::nullopt;
    expire_holders(position->second, now);
    std::optional<grant> result;
    if (auto* holder_found = find_holder(position->second, requested.owner);
        holder_found != nullptr) {
        holder_found->mode = lock_mode::shared;
        holder_found->expires = now + requested.ttl;
        result = grant{holder_found->expires - drift(requested.ttl),
                       requested.fenced ? holder_found->token : fencing_token{},
                       {},
                       false};
        grant_waiters(position->second, now);
    }
    erase_if_unused(position);
    return result;
}

void lock_store::resize(std::string_view name, std::uint32_t permits, time_point now) {
    const std::lock_guard lock(mutex_);
    total_permits_.insert_or_assign(std::string(name), permits);
    const auto position = entries_.find(name);
    if (position == entries_.end()) return;
    expire_holders(position->second, now);
    grant_waiters(position->second, now);
    erase_if_unused(position);
}

bool lock_store::force_release(std::string_view name, fencing_token expected, time_point now) {
    const std::lock_guard lock(mutex_);
    const auto position = entries_.find(name);
    if (position == entries_.end()) return false;
    expire_holders(position->second, now);
    const auto has_token = [&](const auto& each) { return each.token == expected; };
    if (expected && std::ranges::none_of(position->second.holders, has_token)) {
        erase_if_unused(position);
        return false;
    }
    return end_holds(position, loss_reason::forced, now, expected);
}

bool lock_store::end_holds(entry_map::iterator position, loss_reason reason, time_point now,
                           fencing_token latest) {
    const auto count = std::erase_if(position->second.holders, [&](const auto& each) {
        if (latest && each.token > latest) return false;
        notify_loss(each, reason);
        return true;
    });
    grant_waiters(position->second, now);
    erase_if_unused(position);
    return count > 0;
}

void lock_store::notify_loss(const holder_record& victim, loss_reason reason) {
    const auto victim_client = victim.client.lock();
    if (!victim_client) return;
    victim_client->post([weak = victim.client, owner = victim.owner, reason] {
        if (const auto victim_alive = weak.lock()) {
            ++victim_alive->request_counters->pushes;
            victim_alive->listener->on_loss(owner, reason);
        }
    });
}

// A test has no clock of its own, so that of the holder's client counts.
bool lock_store::end_holds(std::string_view name, loss_reason reason) {
    const std::lock_guard lock(mutex_);
    const auto position = entries_.find(name);
    if (position == entries_.end() || position->second.holders.empty()) return false;
    const auto client = position->second.holders.front().client.lock();
    const auto now = client ? client->time->now() : real_runtime().now();
    expire_holders(position->second, now);
    return end_holds(position, reason, now);
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

lock_info lock_store::inspect(std::string_view name, time_point now) {
    const std::lock_guard lock(mutex_);
    const auto position = entries_.find(name);
    if (position == entries_.end()) return describe(name, {}, now);
    expire_holders(position->second, now);
    const auto info = describe(name, position->second, now);
    erase_if_unused(position);
    return info;
}

std::vector<lock_info> lock_store::list(std::string_view prefix, time_point now) {
    const std::lock_guard lock(mutex_);
    std::vector<lock_info> locks;
    for (auto position = entries_.lower_bound(prefix);
         position != entries_.end() && position->first.starts_with(prefix);) {
        const auto current = position++;
        expire_holders(current->second, now);
        if (!current->second.holders.empty())
            locks.push_back(describe(current->first, current->second, now));
        erase_if_unused(current);
    }
    return locks;
}

lock_store::holder_record* lock_store::find_holder(lock_entry& entry, const std::string& owner) {
    const auto position =
        std::find_if(entry.holders.begin(), entry.holders.end(),
                     [&owner](const holder_record& each) { return each.owner == owner; });
    return position == entry.holders.end() ? nullptr : &*position;
}

// A claim that can never be granted leaves no trace. The first claim that names a total sets it.
void lock_store::check_permits(const claim& requested) {
    if (requested.mode != lock_mode::permits) return;
    const auto known_total = total_permits_.find(requested.name);
    const auto total =
        core::check_total(requested, known_total == total_permits_.end() ? 0 : known_total->second);
    if (known_total == total_permits_.end()) total_permits_.emplace(requested.name, total);
}

std::uint32_t lock_store::total_permits_for(const claim& requested) const {
    if (requested.mode != lock_mode::permits) return 0;
    return total_permits_.find(requested.name)->second;
}

grant lock_store::grant_lock(lock_entry& entry, const claim& requested,
                             const std::shared_ptr<session>& client, time_point now) {
    const auto every_holder_is_alive = [](const holder_record&) { return true; };
    const auto shared_token =
        core::reader_token(requested.mode, entry.holders, every_holder_is_alive);
    if (!shared_token) {
        const auto clock_value =
            static_cast<std::uint64_t>(core::clock_token(client->time->wall_clock()));
        last_token_ = std::max(last_token_ + 1, clock_value);
    }
    const auto token = shared_token ? *shared_token : fencing_token(last_token_);
    entry.holders.push_back({requested.owner, token, now + requested.ttl,
                             client->time->wall_clock(), client->client_identity, client,
                             requested.mode, core::share_of(requested).permits});
    return {now + requested.ttl - drift(requested.ttl), token, {}, false};
}

void lock_store::remove_holder(lock_entry& entry, const holder_record& leaving, time_point now) {
    entry.holders.erase(entry.holders.begin() + (&leaving - entry.holders.data()));
    grant_waiters(entry, now);
}

// The queue of one lock, as core::serve_queue needs it. No waiter is dead: a waiter leaves the
// queue when its coroutine ends.
struct lock_store::served_queue {
    lock_store& store;
    lock_entry& entry;
    time_point now;
    bool has_moved = false;

    const std::shared_ptr<queued_waiter>* first() const {
        return entry.queue.empty() ? nullptr : &entry.queue.front();
    }
    static core::lock_share share_of(const std::shared_ptr<queued_waiter>& waiter) {
        return core::share_of(waiter->requested);
    }
    static bool is_dead(const std::shared_ptr<queued_waiter>&) { return false; }
    std::uint32_t total_permits(const std::shared_ptr<queued_waiter>& waiter) const {
        return store.total_permits_for(waiter->requested);
    }
    void grant(const std::shared_ptr<queued_waiter>& waiter) {
        waiter->granted = store.grant_lock(entry, waiter->requested, waiter->client, now);
        remove_and_notify();
    }
    void refuse(const std::shared_ptr<queued_waiter>& waiter) {
        waiter->exceeds_total = true;
        remove_and_notify();
    }
    void discard(const std::shared_ptr<queued_waiter>&) { remove_and_notify(); }

private:
    void remove_and_notify() {
        const auto waiter = entry.queue.front();
        entry.queue.pop_front();
        notify_waiter(waiter);
        has_moved = true;
    }
};

void lock_store::grant_waiters(lock_entry& entry, time_point now) {
    served_queue queue{*this, entry, now};
    const bool has_waiters = core::serve_queue(queue, core::occupancy_of(entry.holders));
    // A new first waiter must learn the earliest end of a lease.
    if (queue.has_moved && has_waiters) notify_waiter(entry.queue.front());
}

void lock_store::expire_holders(lock_entry& entry, time_point now) {
    if (std::erase_if(entry.holders,
                      [now](const holder_record& each) { return each.expires <= now; }) > 0)
        grant_waiters(entry, now);
}

void lock_store::erase_if_unused(entry_map::iterator position) {
    if (position->second.holders.empty() && position->second.queue.empty())
        entries_.erase(position);
}

lock_store::wait_state lock_store::wait_state_of(
    const lock_entry& entry, const std::shared_ptr<queued_waiter>& waiter) const {
    if (waiter->granted) return {waiter->granted, {}};
    const bool is_first = !entry.queue.empty() && entry.queue.front() == waiter;
    return {{}, is_first ? core::first_expiry(entry.holders) : time_point::max()};
}

lock_info lock_store::describe(std::string_view name, const lock_entry& entry,
                               time_point now) const {
    lock_info info{std::string(name), {}, entry.queue.size()};
    if (const auto known_total = total_permits_.find(name); known_total != total_permits_.end())
        info.permits = known_total->second;
    for (const auto& [owner, token, expires, since, process, client, mode, permits] :
         entry.holders) {
        const holder shown_holder{process.host,  process.pid, process.command,    since,
                                  expires - now, token,       owner.substr(0, 8), 1,
                                  mode,          permits};
        if (info.held_by)
            info.others.push_back(shown_holder);
        else
            info.held_by = shown_holder;
    }
    return info;
}

}  // namespace pawl::memory
