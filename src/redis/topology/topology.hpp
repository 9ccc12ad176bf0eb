// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The servers of a service, and which of them has a key. The code of locks and latches asks before
// each request, so its requests follow a key that moves to another server.
#pragma once

#include "../transport/link.hpp"

#include <pawl/examination.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace pawl::redis {

// A request that servers refused because its key is elsewhere, and where to send it next.
struct redirection {
    // Executes the next attempt, after ASKING; null: the link of the key.
    link* asked_next = nullptr;
    unsigned attempts = 0;
};

// Used on one strand, except for `forget_listener`.
class topology {
public:
    virtual ~topology() = default;

    // The link to the server that has the key at present. Everything in one request must come from
    // this link: the server's run id and clock, and the number of the connection.
    [[nodiscard]] virtual link& link_of(std::string_view key) const noexcept = 0;
    // The links to all servers that may have keys; valid until the next suspension. A link lives as
    // long as the topology, also if its server has left.
    [[nodiscard]] virtual std::span<link* const> links() const noexcept = 0;
    // False: one request must not contain both keys.
    [[nodiscard]] virtual bool may_share_request(std::string_view key,
                                                 std::string_view other) const noexcept {
        return &link_of(key) == &link_of(other);
    }
    // The part of the service within which requests over this link may follow their keys; null: all
    // of it.
    [[nodiscard]] virtual std::shared_ptr<topology> part_of(const link&) const { return nullptr; }
    // True: the keys of a slot move one by one. While they do, a request with several keys is
    // refused unless all of them are at the same server.
    [[nodiscard]] virtual bool has_slots() const noexcept { return false; }

    // Call this for the error reply to a request about the key. Returns true if the server executed
    // nothing and the request should be sent again, as `progress` says; it must then be composed
    // anew, since it goes to another server. Returns false for any other error, and after too many
    // attempts: then the reply is one that a later request need not get. Throws as `link::exec`
    // does. The arguments must outlive the call.
    virtual boost::asio::awaitable<bool> follow(redirection& progress, std::string_view key,
                                                link& asked, reply& refusal, time_point give_up_at);
    // The number of requests that were sent to another server because the server of their key
    // asked for it (ASK).
    [[nodiscard]] virtual std::uint64_t asked_elsewhere() const noexcept { return 0; }
    // True: call `follow` for this reply.
    [[nodiscard]] virtual bool may_follow(const reply&) const noexcept { return false; }

    // Closes every link, in turn: closing them at the same time would need memory. The other links
    // receive their replies meanwhile.
    virtual boost::asio::awaitable<void> close(time_point give_up_at);
    // Adds what else than the servers themselves is worth knowing, for `examine`.
    virtual void add_findings(examination&) const {}
    // The same for facts that must be asked for. Does not throw because of a host.
    virtual boost::asio::awaitable<void> examine_hosts(examination&, time_point give_up_at);

    // Call this before the listener is destroyed. After all links are closed, any thread may call
    // it.
    virtual void forget_listener() noexcept {
        for (auto* each : links())
            each->forget_listener();
    }
};

inline boost::asio::awaitable<bool> topology::follow(redirection&, std::string_view, link&, reply&,
                                                     time_point) {
    co_return false;
}

inline boost::asio::awaitable<void> topology::examine_hosts(examination&, time_point) { co_return; }

inline boost::asio::awaitable<void> topology::close(time_point give_up_at) {
    for (std::size_t i = 0; i < links().size(); ++i)
        co_await links()[i]->close(give_up_at);
}

// Every connection to every server subscribes to `channel`, as in link_factory.
using topology_factory =
    std::function<std::shared_ptr<topology>(link::listener& receiver, const std::string& channel)>;

}  // namespace pawl::redis
