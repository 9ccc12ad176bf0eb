// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "latches.hpp"

#include <algorithm>

namespace asio = boost::asio;

namespace pawl::memory {
namespace {

// Leaves the queue when it goes out of scope, also by an exception or the end of the event loop.
class latch_wait {
public:
    latch_wait(latch_store& store, const std::string& name, const std::shared_ptr<session>& client)
        : store_(store), name_(name), waiter_(std::make_shared<latch_store::latch_waiter>(client)) {
        store_.join(name_, waiter_);
    }
    ~latch_wait() { store_.leave(name_, waiter_); }
    latch_wait(const latch_wait&) = delete;
    latch_wait& operator=(const latch_wait&) = delete;

    const std::shared_ptr<latch_store::latch_waiter>& operator*() const noexcept { return waiter_; }

private:
    latch_store& store_;
    const std::string& name_;
    std::shared_ptr<latch_store::latch_waiter> waiter_;
};

}  // namespace

// The row of one latch during one step.
class latch_store::rows {
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

template <class Step>
auto latch_store::run(const std::string& name, time_point now, Step step) {
    const std::lock_guard lock(mutex_);
    rows rows_of_latch(*this, name, now);
    core::latch_table latch(rows_of_latch, name, now);
    return step(latch);
}

void latch_store::join(const std::string& name, const std::shared_ptr<latch_waiter>& waiter) {
    const std::lock_guard lock(mutex_);
    queues_[name].push_back(waiter);
}

void latch_store::leave(const std::string& name, const std::shared_ptr<latch_waiter>& waiter) {
    const std::lock_guard lock(mutex_);
    const auto queue = queues_.find(name);
    queue->second.remove(waiter);
    if (queue->second.empty()) queues_.erase(queue);
}

core::latch_state latch_store::read_state(const std::string& name, time_point now) {
    const std::lock_guard lock(mutex_);
    return rows(*this, name, now).read();
}

memory_latches::memory_latches(std::shared_ptr<latch_store> store,
                               std::shared_ptr<request_gate> gate, std::shared_ptr<session> client)
    : store_(std::move(store)), gate_(std::move(gate)), client_(std::move(client)) {}

asio::awaitable<time_point> memory_latches::begin_request() const {
    if (made_in_.is_forked())
        throw error(errc::unsupported,
                    "This process is a fork, and the latches in memory belong to its parent; make "
                    "a new client here.");
    ++client_->request_counters->requests;
    if (gate_) co_await gate_->pass(client_);
    co_return client_->time->now();
}

template <class T, class Job>
asio::awaitable<T> memory_latches::run(std::string_view name, Job job) {
    const auto now = co_await begin_request();
    co_return store_->run(std::string(name), now, job);
}

asio::awaitable<bool> memory_latches::try_set(std::string_view name, std::uint32_t count,
                                              duration ttl) {
    return run<bool>(name, [count, ttl](auto& latch) { return latch.try_set(count, ttl); });
}

asio::awaitable<latches::step> memory_latches::count_down(std::string_view name,
                                                          std::uint32_t steps) {
    return run<step>(name, [steps](auto& latch) { return latch.count_down(steps); });
}

asio::awaitable<latches::step> memory_latches::arrive(std::string_view name, std::uint32_t parties,
                                                      duration ttl) {
    return run<step>(name, [parties, ttl](auto& latch) { return latch.arrive(parties, ttl); });
}

asio::awaitable<latch_info> memory_latches::inspect(std::string_view name) {
    return run<latch_info>(name, [](auto& latch) { return latch.describe(); });
}

asio::awaitable<bool> memory_latches::reset(std::string_view name) {
    return run<bool>(name, [](auto& latch) { return latch.reset(); });
}

asio::awaitable<bool> memory_latches::wait(std::string_view name, std::uint64_t generation,
                                           time_point give_up_at) {
    auto now = co_await begin_request();
    const std::string latch_name(name);
    const latch_wait waiter(*store_, latch_name, client_);
    for (;;) {
        const auto present = store_->read_state(latch_name, now);
        const bool is_over_now = core::is_over(present, latch_name, generation);
        if (is_over_now) co_return true;
        if (now >= give_up_at) co_return false;
        const auto wake_at = std::min(give_up_at, present.expires);
        const bool notified = co_await (*waiter)->wakeup.wait_until(wake_at);
        ++(notified ? client_->request_counters->pushes : client_->request_counters->requests);
        now = client_->time->now();
    }
}

}  // namespace pawl::memory
