// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "waiting_room.hpp"

namespace pawl::core {

waiting_room::queues::value_type& waiting_room::queue_of(const std::string& name) {
    if (spare_.empty()) return *queues_.try_emplace(name).first;
    const auto present = queues_.find(name);
    if (present != queues_.end()) return *present;
    spare_.key() = name;
    return *queues_.insert(std::move(spare_)).position;
}

void waiting_room::remove_empty(const std::string& name) noexcept {
    spare_ = queues_.extract(queues_.find(name));
}

waiting_room::waiter::waiter(waiting_room& room, const std::string& name)
    : room_(room), queue_(room.queue_of(name)) {
    auto& waiters = queue_.second;
    // The first waiter needs no wakeup.
    if (!waiters.empty()) wakeup_ = std::make_unique<wakeup>(room.time_, room.strand_);
    waiters.push_back(*this);
}

waiting_room::waiter::~waiter() {
    auto& waiters = queue_.second;
    const bool was_first = is_first();
    waiters.erase(waiters.iterator_to(*this));
    if (waiters.empty()) {
        room_.remove_empty(queue_.first);
    } else if (was_first) {
        waiters.front().wakeup_->notify();
    }
}

bool waiting_room::waiter::is_first() const noexcept { return &queue_.second.front() == this; }

boost::asio::awaitable<bool> waiting_room::waiter::wait_until_first(time_point give_up_at) {
    for (;;) {
        if (is_first()) co_return true;
        const bool is_notified = co_await wakeup_->wait_until(give_up_at);
        if (!is_notified) co_return false;
    }
}

}  // namespace pawl::core
