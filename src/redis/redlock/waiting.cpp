// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The line of waiting clients at each node. A release tells the first one, which tries again at
// once; a lost message is made good by the next attempt, a second later at the latest.
#include "locks.hpp"

#include "node_request.hpp"

#include <algorithm>
#include <utility>

namespace asio = boost::asio;

namespace pawl::redlock {

locks::waiter::waiter(locks& owner, const std::string& name)
    : woken(owner.time(), owner.context_.strand),
      owner_(owner),
      position_(owner.waiters_.emplace(name, this)) {}

locks::waiter::~waiter() {
    const auto name = position_->first;
    owner_.waiters_.erase(position_);
    // The waiters of this client for one name have one place, which a grant takes away. So the
    // others ask again then.
    const auto [first, last] = owner_.waiters_.equal_range(name);
    if (was_granted)
        for (auto other = first; other != last; ++other)
            other->second->woken.notify();
    if (!may_be_in_line || owner_.is_closing() || first != last) return;
    owner_.leave_line(name);
}

void locks::leave_line(const std::string& name) {
    try {
        const auto lock = std::make_shared<const requested_lock>(lock_with(name, {}));
        for (std::size_t i = 0; i < members_.nodes().size(); ++i)
            if (members_.nodes().link_of(i).connected()) spawn(leave_at(lock, i));
    } catch (const std::exception&) {}  // the places end by themselves
}

asio::awaitable<void> locks::leave_at(std::shared_ptr<const requested_lock> lock,
                                      std::size_t node) {
    try {
        const leave_call call{set_, *lock, client_};
        // A later waiter of this client may stand in the line by now, with the same place.
        const auto may_repeat = [&] { return !waiters_.contains(lock->name); };
        // The text goes out before this client's next request, which must not find the place.
        co_await ask_node(members_.nodes().link_of(node), call, reply_deadline(), may_repeat,
                          &known_scripts_);
    } catch (const error&) {}  // the place ends by itself
}

// "lost OWNER RUN": a single node cannot end a hold, so the client waits for the messages of a
// majority. If some are lost, the next renewal finds the loss.
void locks::on_forced_release(std::string_view owner, std::string_view run) {
    if (owner.empty()) return;
    for (std::size_t i = 0; i < members_.nodes().size(); ++i) {
        if (run_of(members_.nodes().link_of(i).current()) != run) continue;
        if (forced_releases_.size() >= max_forced_releases) forced_releases_.clear();
        auto& nodes = forced_releases_[std::string(owner)];
        nodes.insert(i);
        const auto count = nodes.size();
        if (count == members_.nodes().size()) forced_releases_.erase(std::string(owner));
        if (count != members_.nodes().majority()) return;
        // The grant may still be on its way to the caller.
        const auto start_of_value = std::string(owner) + ";";
        const auto is_of_owner = [&start_of_value](const requested_lock& each) {
            return each.value.starts_with(start_of_value);
        };
        for (auto* each : attempts_)
            if (std::ranges::any_of(*each->locks, is_of_owner)) {
                each->abandon();
                each->changed.notify();
            }
        context_.listener->on_loss(owners_.claimed_as(owner), loss_reason::forced);
        return;
    }
}

// "wake NAME", or "lost OWNER RUN" after a forced release.
void locks::on_message(std::string_view, std::string_view payload) {
    constexpr std::string_view lost = "lost ";
    if (payload.starts_with(lost)) {
        const auto words = payload.substr(lost.size());
        const auto end = std::min(words.find(' '), words.size());
        return on_forced_release(words.substr(0, end),
                                 words.substr(std::min(end + 1, words.size())));
    }
    constexpr std::string_view wake = "wake ";
    if (!payload.starts_with(wake)) return;
    const auto name = payload.substr(wake.size());
    const auto [first, last] = waiters_.equal_range(name);
    // A waiter that has left has passed the message on: see leave.lua. Anybody who may publish can
    // send such messages, so a name without a waiter costs no request.
    for (auto each = first; each != last; ++each)
        each->second->woken.notify();
}

}  // namespace pawl::redlock
