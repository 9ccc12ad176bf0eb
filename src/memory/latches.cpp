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

latch_store::latch_entry* latch_store::find_entry(const std::string& name, time_point now) {
    const auto position = entries_.find(name);
    if (position == entries_.end()) return nullptr;
    if (position->second.expires > now) return &position->second;
    entries_.erase(position);
    return nullptr;
}

void latch_store::start_generation(latch_entry& entry, std::uint32_t count, std::uint32_t parties) {
    entry.known = true;
    entry.count = count;
    entry.generation = ++last_generation_;
    if (entry.first == 0) entry.first = entry.generation;
    entry.parties = parties;
}

latches::step latch_store::subtract_steps(const std::string& name, latch_entry& entry,
                                          std::uint64_t steps, time_point now) {
    entry.expires = now + entry.ttl;
    if (entry.count == 0) return {entry.generation, 0};
    entry.count -= std::min(entry.count, steps);
    const latches::step step_taken{entry.generation, entry.count};
    if (entry.count == 0) {
        if (entry.parties != 0) start_generation(entry, entry.parties, entry.parties);
        notify_waiters(name);
    }
    return step_taken;
}

// The wakeups belong to the strands of the waiters, and this may run on another strand.
void latch_store::notify_waiters(const std::string& name) {
    const auto queue = queues_.find(name);
    if (queue == queues_.end()) return;
    for (const auto& waiter : queue->second) {
        waiter->client->post([weak = std::weak_ptr(waiter)] {
            if (const auto waiter_alive = weak.lock()) waiter_alive->wakeup.notify();
        });
    }
}

bool latch_store::try_set(const std::string& name, std::uint32_t count, duration ttl,
                          time_point now) {
    const std::lock_guard lock(mutex_);
    const auto* present = find_entry(name, now);
    if (present != nullptr && present->count > 0) return false;
    auto& entry = entries_[name];
    start_generation(entry, count, 0);
    entry.ttl = ttl;
    entry.expires = now + ttl;
    return true;
}

latches::step latch_store::count_down(const std::string& name, std::uint32_t steps,
                                      time_point now) {
    const std::lock_guard lock(mutex_);
    auto* entry = find_entry(name, now);
    if (entry == nullptr) throw core::unknown_latch_error(name);
    return subtract_steps(name, *entry, steps, now);
}

latches::step latch_store::arrive(const std::string& name, std::uint32_t parties, duration ttl,
                                  time_point now) {
    const std::lock_guard lock(mutex_);
    const auto* present = find_entry(name, now);
    const bool counting = present != nullptr && present->count > 0;
    if (counting && present->parties != parties)
        throw core::other_parties_error(name, present->parties, parties);
    auto& entry = entries_[name];
    if (!counting) start_generation(entry, parties, parties);
    entry.ttl = ttl;
    return subtract_steps(name, entry, 1, now);
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
    const core::latch_state* const entry = find_entry(name, now);
    return entry == nullptr ? core::latch_state{} : *entry;
}

latch_info latch_store::inspect(const std::string& name, time_point now) {
    const std::lock_guard lock(mutex_);
    latch_info info;
    info.name = name;
    if (const auto queue = queues_.find(name); queue != queues_.end())
        info.waiters = queue->second.size();
    const auto* entry = find_entry(name, now);
    if (entry == nullptr) return info;
    info.known = true;
    info.count = entry->count;
    info.generation = entry->generation;
    info.parties = entry->parties;
    info.remaining = entry->expires - now;
    return info;
}

bool latch_store::reset(const std::string& name, time_point now) {
    const std::lock_guard lock(mutex_);
    if (find_entry(name, now) == nullptr) return false;
    entries_.erase(name);
    notify_waiters(name);
    return true;
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

asio::awaitable<bool> memory_latches::try_set(std::string_view name, std::uint32_t count,
                                              duration ttl) {
    const auto now = co_await begin_request();
    co_return store_->try_set(std::string(name), count, ttl, now);
}

asio::awaitable<latches::step> memory_latches::count_down(std::string_view name,
                                                          std::uint32_t steps) {
    const auto now = co_await begin_request();
    co_return store_->count_down(std::string(name), steps, now);
}

asio::awaitable<latches::step> memory_latches::arrive(std::string_view name, std::uint32_t parties,
                                                      duration ttl) {
    const auto now = co_await begin_request();
    co_return store_->arrive(std::string(name), parties, ttl, now);
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

asio::awaitable<latch_info> memory_latches::inspect(std::string_view name) {
    const auto now = co_await begin_request();
    co_return store_->inspect(std::string(name), now);
}

asio::awaitable<bool> memory_latches::reset(std::string_view name) {
    const auto now = co_await begin_request();
    co_return store_->reset(std::string(name), now);
}

}  // namespace pawl::memory
