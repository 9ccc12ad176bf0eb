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
    return rows(*this, name, now).read().state();
}

memory_latches::memory_latches(std::shared_ptr<latch_store> store,
                               std::shared_ptr<request_gate> gate, std::shared_ptr<session> client)
    : store_(std::move(store)), gate_(std::move(gate)), client_(std::move(client)) {}

asio::awaitable<time_point> memory_latches::begin_request() const {
    made_in_.throw_if_forked();
    ++client_->request_counters->requests;
    if (gate_) co_await gate_->pass(client_);
    co_return client_->time->now();
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
