// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "waiting_line.hpp"

#include "node_request.hpp"

#include <exception>
#include <utility>

namespace asio = boost::asio;

namespace pawl::redlock {

waiting_line::waiter::waiter(waiting_line& owner, const std::string& name)
    : woken(*owner.client_.context.time, owner.client_.context.strand),
      owner_(owner),
      position_(owner.waiters_.emplace(name, this)) {}

waiting_line::waiter::~waiter() {
    const auto name = position_->first;
    owner_.waiters_.erase(position_);
    // The waiters of this client for one name have one place, which a grant takes away. So the
    // others ask again then.
    const auto [first, last] = owner_.waiters_.equal_range(name);
    if (was_granted)
        for (auto other = first; other != last; ++other)
            other->second->woken.notify();
    if (!may_be_in_line || owner_.client_.tasks.is_closing() || first != last) return;
    owner_.leave(name);
}

void waiting_line::leave(const std::string& name) {
    try {
        const auto lock = std::make_shared<const requested_lock>(locks_.lock_with(name, {}));
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            if (nodes_.link_of(i).connected()) client_.tasks.spawn(leave_at(lock, i));
    } catch (const std::exception&) {}  // the places end by themselves
}

asio::awaitable<void> waiting_line::leave_at(std::shared_ptr<const requested_lock> lock,
                                             std::size_t node) {
    try {
        const leave_call call{*client_.layout, *lock, id_};
        // A later waiter of this client may stand in the line by now, with the same place.
        const auto may_repeat = [&] { return !waiters_.contains(lock->name); };
        // The text goes out before this client's next request, which must not find the place.
        co_await ask_node(nodes_.link_of(node), call, client_.reply_deadline(), may_repeat,
                          &client_.known_scripts);
    } catch (const error&) {}  // the place ends by itself
}

// A waiter that has left has passed the message on: see leave.lua. Anybody who may publish can send
// such messages, so a name without a waiter costs no request.
void waiting_line::wake(std::string_view name) {
    const auto [first, last] = waiters_.equal_range(name);
    for (auto each = first; each != last; ++each)
        each->second->woken.notify();
}

void waiting_line::wake_all() {
    for (const auto& [name, each] : waiters_)
        each->woken.notify();
}

}  // namespace pawl::redlock
