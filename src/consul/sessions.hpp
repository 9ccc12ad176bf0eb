// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The sessions of one client at Consul: one for each ttl. All locks with this ttl are its locks.
//
// The renewals of these locks renew the session, and so no other heartbeat is needed: a session
// without locks may end, and the next acquire makes another one.
#pragma once

#include "api.hpp"
#include "keys.hpp"

#include "../core/util/wakeup.hpp"

#include <list>
#include <map>
#include <memory>
#include <string>

namespace pawl::consul {

// Its holds, attempts and undos share it.
struct session {
    std::string id{};
    duration ttl{};
    // The session lasts at least for the ttl after this time: that before the last request was sent
    // that Consul has confirmed as an extension.
    time_point confirmed_at{};
    // Every acquire compares it with that of the guard key. To undo an attempt, the client changes
    // the key first: then the attempt cannot be carried out any more.
    std::uint64_t guard_index = 0;
    bool is_over = false;  // Consul does not know it any more

    // The deadline of a lease of this ttl that the session has.
    [[nodiscard]] time_point deadline(duration lease) const noexcept {
        return confirmed_at + lease - drift(lease);
    }
};

// Used on one strand. The coroutines may be cancelled.
class sessions {
public:
    // `time`, `server` and `keys` outlive the object.
    sessions(api& server, const key_scheme& keys, const backend_context& context);

    // A session of this ttl for an acquire: it lasts for at least half of the ttl. Throws as `api`
    // does, and errc::exhausted if `most_sessions` others are in use.
    boost::asio::awaitable<std::shared_ptr<session>> get(duration ttl, time_point give_up_at);
    // Renews the session, unless another call does so meanwhile. Afterwards `is_over` is true if
    // Consul does not know it. Throws as `api` does.
    boost::asio::awaitable<void> renew(std::shared_ptr<session> renewed, time_point give_up_at);
    // Ends all of them at Consul, and with them their locks.
    boost::asio::awaitable<void> destroy_all(time_point give_up_at);

    static constexpr std::size_t most_sessions = 64;

private:
    struct place {
        std::shared_ptr<session> present;
        bool is_busy = false;  // a request makes or renews the session
        std::list<core::wakeup*> waiters;
    };
    class turn;

    boost::asio::awaitable<void> wait_for_turn(place& at, time_point give_up_at);
    boost::asio::awaitable<std::shared_ptr<session>> make(duration ttl, time_point give_up_at);
    boost::asio::awaitable<void> extend(session& renewed, time_point give_up_at);
    void make_room();

    api& server_;
    const key_scheme& keys_;
    const backend_context context_;
    const std::string name_;  // of the sessions, for operators
    std::map<duration, place> places_;
};

}  // namespace pawl::consul
