// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The sessions of a client: one for each timeout. A session is a connection, and its timeout cannot
// be changed; so holds with different ttls have different sessions.
#pragma once

#include "session.hpp"

#include "../core/util/in_flight.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace pawl::zookeeper {

// Used on the client's strand.
class session_pool : public std::enable_shared_from_this<session_pool> {
public:
    // `users` outlives the sessions' calls.
    session_pool(std::shared_ptr<const client_settings> settings, const backend_context& context,
                 session::handlers users);

    // A session with this timeout, or a longer one, that has a connection. Throws as
    // `session::ready`, and errc::cancelled after `close`.
    boost::asio::awaitable<std::shared_ptr<session>> get(duration timeout, time_point give_up_at);
    // Any session with a connection, for questions.
    boost::asio::awaitable<std::shared_ptr<session>> get_any(time_point give_up_at);
    // Ends a session that nobody uses.
    void drop(const session& unused);
    void close() noexcept;
    // After `close`: the number of sessions that still say goodbye.
    [[nodiscard]] core::in_flight& running() noexcept { return running_; }

    // Why the last attempt to connect failed; empty while there is a connection.
    [[nodiscard]] std::string failure_text() const;

private:
    // Each is a connection. A client with more different ttls shares those with longer timeouts.
    static constexpr std::size_t most_sessions = 16;

    std::shared_ptr<session> find(duration timeout);
    std::shared_ptr<session> make(duration timeout);
    static boost::asio::awaitable<void> keep(std::shared_ptr<session_pool> self,
                                             std::shared_ptr<session> kept);

    const std::shared_ptr<const client_settings> settings_;
    const backend_context context_;
    const session::handlers users_;
    std::map<duration, std::shared_ptr<session>> sessions_;
    core::in_flight running_;
    core::back_off pauses_;
    std::optional<error> failure_;
    time_point retry_at_{};
    bool is_closed_ = false;
};

}  // namespace pawl::zookeeper
