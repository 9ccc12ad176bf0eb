// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The present session of a client. It is made when it is needed, and again after it has ended.
#pragma once

#include "session.hpp"

#include "../core/util/back_off.hpp"
#include "../core/util/wakeup.hpp"

#include <list>
#include <memory>
#include <optional>

namespace pawl::sql {

// Used on the client's strand.
class session_keeper : public std::enable_shared_from_this<session_keeper> {
public:
    struct handlers {
        std::function<void(std::string_view message)> on_message;
        // The session of this client number has ended, by itself or by `end`.
        std::function<void(const std::string& client)> on_end;
        // There is another session than before: messages may have been lost.
        std::function<void()> on_replaced;
        std::function<void(bool is_hearing)> on_hearing;  // as of a session
    };

    session_keeper(std::unique_ptr<connector> database, const backend_context& context,
                   handlers user_handlers);

    // The present session, or a new one. Throws errc::unreachable at `give_up_at`, and else what
    // the connector threw; such an error names the time of the next attempt.
    boost::asio::awaitable<std::shared_ptr<session>> get(time_point give_up_at);
    // Ends this session if it is the present one: the next `get` connects again.
    void end(const std::shared_ptr<session>& ended);
    // No session is made any more.
    void close();

    [[nodiscard]] connector& database() noexcept { return *database_; }
    // Why there is no session; empty while there is one, or before the first attempt.
    [[nodiscard]] std::string unreachable_reason() const;

private:
    void start();
    static boost::asio::awaitable<void> connect(std::shared_ptr<session_keeper> self);
    void on_failure(const error& failure);
    void on_session_end();
    void notify_waiters();

    const std::unique_ptr<connector> database_;
    const backend_context context_;
    const handlers handlers_;
    std::shared_ptr<session> present_;
    bool is_connecting_ = false;
    bool is_closed_ = false;
    bool had_session_ = false;
    std::optional<error> failure_;  // of the last attempt to connect
    time_point retry_at_{};
    core::back_off pauses_;
    std::list<core::wakeup*> waiters_;
};

}  // namespace pawl::sql
