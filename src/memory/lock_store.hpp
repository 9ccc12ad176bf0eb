// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The locks of one memory service, and their waiters. All clients of the service use them.
#pragma once

#include "session.hpp"

#include "core/store/lease_table.hpp"
#include "core/util/clock_token.hpp"
#include "core/util/wakeup.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::memory {

// The client of a row, and the wakeup of its acquire, which waits. Either may have ended.
struct row_client {
    std::weak_ptr<session> client;
    std::weak_ptr<core::wakeup> wakeup;  // used on the client's strand
};

// Thread-safe. Its mutex is never held while a caller waits.
class lock_store {
public:
    // Runs a step with the lock's `lease_table`. `wakeup` is that of a claim that may wait.
    template <class Step>
    auto run(std::string_view name, const std::shared_ptr<session>& client, Step step,
             std::weak_ptr<core::wakeup> wakeup = {}) {
        const std::lock_guard lock(mutex_);
        rows rows_of_lock(*this, name, *client->time, {client, std::move(wakeup)});
        core::lease_table table(rows_of_lock, rows_of_lock.now());
        return step(table);
    }
    std::vector<lock_info> list(std::string_view prefix, runtime& time);
    // For tests: ends the holds of one lock, or of all locks, for this reason.
    bool end_holds(std::string_view name, loss_reason reason);
    void end_all_holds(loss_reason reason);

private:
    struct lock_entry {
        std::vector<core::holder_row<row_client>> holders;
        std::list<core::waiter_row<row_client>> queue;
    };
    using entry_map = std::map<std::string, lock_entry, std::less<>>;

    // The rows of one lock during one step. The destructor ends the step.
    class rows {
    public:
        using client_type = row_client;
        // A waiter of this process needs no confirmation.
        static constexpr duration claim_window = duration::max();

        rows(lock_store& store, std::string_view name, runtime& time, row_client client,
             loss_reason reason = loss_reason::forced)
            : store_(store),
              position_(store.entries_.try_emplace(std::string(name)).first),
              time_(time),
              now_(time.now()),
              client_(std::move(client)),
              reason_(reason) {
            std::erase_if(holders(), [this](const auto& each) { return each.expires <= now_; });
        }
        // A new first waiter is notified, because only the first waiter waits for the earliest end
        // of a lease.
        ~rows() {
            try {
                if (has_first_changed_ && !queue().empty()) notify_waiter(queue().front());
            } catch (const std::bad_alloc&) {}  // the next request serves the queue
            if (holders().empty() && queue().empty()) store_.entries_.erase(position_);
        }
        rows(const rows&) = delete;
        rows& operator=(const rows&) = delete;

        [[nodiscard]] time_point now() const noexcept { return now_; }

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
        bool refresh_waiter(const std::string& owner) {
            return find_waiter(owner) != queue().end();
        }
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
            victim_client->post(
                [weak = victim.client.client, owner = victim.owner, reason = reason_] {
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
        const entry_map::iterator position_;
        runtime& time_;
        const time_point now_;
        const row_client client_;
        const loss_reason reason_;  // of `notify_loss`
        bool has_first_changed_ = false;
    };
    std::mutex mutex_;
    entry_map entries_;
    std::map<std::string, std::uint32_t, std::less<>>
        total_permits_;  // by name: the semaphore's total, once a claim or `resize` has set it
    // All names share one counter, so the tokens of a name grow even if the name is forgotten while
    // it is free. The counter starts from the clock, so a new process issues larger tokens than the
    // process before it.
    std::uint64_t last_token_ = 0;
};

}  // namespace pawl::memory
