// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The latches of one memory service, which all clients of the service use.
#pragma once

#include "core/store/latch_table.hpp"
#include "core/util/fork_mark.hpp"
#include "core/util/spi.hpp"
#include "lock_store.hpp"
#include "request_gate.hpp"

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace pawl::memory {

// Thread-safe. Its mutex is never held while a caller waits.
class latch_store {
public:
    struct latch_waiter {
        explicit latch_waiter(std::shared_ptr<session> waiting_client)
            : client(std::move(waiting_client)), wakeup(*client->time, client->strand) {}
        std::shared_ptr<session> client;
        core::wakeup wakeup;  // on the client's strand
    };

    // Runs a step with the latch's `latch_table`, under the mutex.
    template <class Step>
    auto run(const std::string& name, time_point now, Step step) {
        const std::lock_guard lock(mutex_);
        rows rows_of_latch(*this, name, now);
        core::latch_table latch(rows_of_latch, name, now);
        return step(latch);
    }
    // The waiter is in the queue from `join` to `leave`.
    void join(const std::string& name, const std::shared_ptr<latch_waiter>& waiter);
    void leave(const std::string& name, const std::shared_ptr<latch_waiter>& waiter);
    core::latch_state read_state(const std::string& name, time_point now);

private:
    // The row of one latch during one step.
    class rows {
    public:
        rows(latch_store& store, const std::string& name, time_point now)
            : store_(store), name_(name), now_(now) {}

        core::latch_entry read() {
            const auto position = store_.entries_.find(name_);
            if (position == store_.entries_.end()) return {};
            if (position->second.expires > now_) return position->second;
            store_.entries_.erase(position);
            return {};
        }
        void write(const core::latch_entry& entry) { store_.entries_[name_] = entry; }
        void erase() { store_.entries_.erase(name_); }
        std::uint64_t next_generation() { return ++store_.last_generation_; }
        // The wakeups belong to the strands of the waiters, and this may run on another strand.
        void notify_waiters() {
            const auto queue = store_.queues_.find(name_);
            if (queue == store_.queues_.end()) return;
            for (const auto& waiter : queue->second) {
                waiter->client->post([weak = std::weak_ptr(waiter)] {
                    if (const auto waiter_alive = weak.lock()) waiter_alive->wakeup.notify();
                });
            }
        }
        std::uint64_t count_waiters() {
            const auto queue = store_.queues_.find(name_);
            return queue == store_.queues_.end() ? 0 : queue->second.size();
        }

    private:
        latch_store& store_;
        const std::string& name_;
        const time_point now_;
    };

    std::mutex mutex_;
    std::map<std::string, core::latch_entry, std::less<>> entries_;
    std::map<std::string, std::list<std::shared_ptr<latch_waiter>>, std::less<>> queues_;
    std::uint64_t last_generation_ = 0;  // shared by all names, so that no generation repeats
};

// One client's latches.
class memory_latches final : public core::row_latches<memory_latches> {
public:
    // `gate` may be null.
    memory_latches(std::shared_ptr<latch_store> store, std::shared_ptr<request_gate> gate,
                   std::shared_ptr<session> client);

    template <class T, class Job>
    boost::asio::awaitable<T> run(std::string_view name, Job job) {
        const auto now = co_await begin_request();
        co_return store_->run(std::string(name), now, job);
    }
    boost::asio::awaitable<bool> wait(std::string_view name, std::uint64_t generation,
                                      time_point give_up_at) override;

private:
    // Refuses a fork, counts the request, and passes the gate.
    boost::asio::awaitable<time_point> begin_request() const;

    const std::shared_ptr<latch_store> store_;
    const std::shared_ptr<request_gate> gate_;
    const std::shared_ptr<session> client_;
    const core::fork_mark made_in_;
};

}  // namespace pawl::memory
