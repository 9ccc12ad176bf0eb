// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a client knows about the life of its session. It has no I/O and no clock.
//
// The leader ends a session whose last *reported* contact is older than the timeout. A follower
// answers pings by itself, and reports the contacts of its clients in its answers to the leader's
// pings, which come twice a tick. So an answered ping proves nothing, and even an answered `sync`,
// which goes to the leader, does not prove that the contact by this `sync` was reported. It proves
// that the earlier reports have arrived, on the same connection: those of contacts that are a tick
// older. A connect is reported at once.
#pragma once

#include "../core/util/spi.hpp"

#include <algorithm>
#include <deque>

namespace pawl::zookeeper {

class session_evidence {
public:
    // `tick` of the server, or longer.
    explicit session_evidence(duration tick) noexcept : tick_(tick) {}

    // A server accepted or resumed the session; the request was sent at this time.
    void on_connected(time_point sent_at) {
        contacts_.clear();
        proved_at_ = std::max(proved_at_, sent_at);
    }
    // A request or a ping that was sent at this time was answered.
    void on_contact(time_point sent_at) {
        if (contacts_.empty() || sent_at - contacts_.back() >= tick_ / 16)
            contacts_.push_back(sent_at);
    }
    // A `sync` that was sent at this time was answered.
    void on_sync(time_point sent_at) {
        while (!contacts_.empty() && contacts_.front() <= sent_at - tick_) {
            proved_at_ = std::max(proved_at_, contacts_.front());
            contacts_.pop_front();
        }
    }

    // The leader knows of a contact at this time or later: the session lasts from then on for its
    // timeout at least.
    [[nodiscard]] time_point proved_at() const noexcept { return proved_at_; }

private:
    const duration tick_;
    time_point proved_at_ = time_point::min();
    // Of this connection, in order. A server that answers no `sync` does not let them grow for
    // long: the client leaves it.
    std::deque<time_point> contacts_;
};

}  // namespace pawl::zookeeper
