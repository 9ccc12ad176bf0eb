// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What locks that belong to sessions need of a database. A session has one lock, or waits for it in
// the server's own queue. The server gives the lock back when the session ends, and ends a session
// that is idle for the ttl.
#pragma once

#include "../core/util/spi.hpp"

#include <pawl/error.hpp>
#include <pawl/examination.hpp>

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::sql {

// A lock as the database names it. Names may share a key.
using lock_key = std::string;

struct lock_request {
    lock_key key;
    lock_mode mode = lock_mode::exclusive;
    duration ttl{};      // the session ends when it is idle for so long
    bool waits = false;  // in the server's queue, until `give_up_at`; else makes one attempt
};

struct lock_answer {
    bool is_granted = false;
    fencing_token token;     // empty: the locks have none
    time_point proved_at{};  // before a request to whose answer the session lived with the lock
};

// Used on the strand, by one call at a time. Functions throw errc::unreachable if there was no
// answer: the database may have carried out the statement, or may do so later.
class lock_session {
public:
    virtual ~lock_session() = default;

    [[nodiscard]] virtual bool is_over() const noexcept = 0;
    // Afterwards, neither side ends the session before it was silent for the ttl.
    virtual boost::asio::awaitable<lock_answer> lock(lock_request requested,
                                                     time_point give_up_at) = 0;
    // Gives the lock back. False: the session did not have it.
    virtual boost::asio::awaitable<bool> unlock(time_point give_up_at) = 0;
    // A round trip: the session lives for another ttl.
    virtual boost::asio::awaitable<void> prove(time_point give_up_at) = 0;
    // Ends the session, and so its lock, or its wait at the server. No handler is called.
    virtual void close() noexcept = 0;

    // For displays, and for administrators: see `backend`.
    virtual boost::asio::awaitable<lock_info> inspect(std::string name, time_point give_up_at) = 0;
    virtual boost::asio::awaitable<std::vector<lock_info>> list(std::string prefix,
                                                                time_point give_up_at) = 0;
    virtual boost::asio::awaitable<bool> force_release(std::string name, fencing_token expected,
                                                       time_point give_up_at) = 0;
    virtual boost::asio::awaitable<examination> examine(time_point give_up_at) = 0;
};

using session_end_handler = std::function<void(const lock_session& ended, loss_reason reason)>;

// Makes sessions. Used on the strand.
class lock_connector {
public:
    virtual ~lock_connector() = default;

    // Throws as `connector::connect`. `on_end` is called when the session has ended by itself: on
    // the strand, and not from within a function of the session.
    virtual boost::asio::awaitable<std::shared_ptr<lock_session>> connect(
        session_end_handler on_end, time_point give_up_at) = 0;
    // Throws errc::bad_name for a name that cannot be locked.
    [[nodiscard]] virtual lock_key key_of(std::string_view name) const = 0;
    [[nodiscard]] virtual std::string describe() const = 0;
    [[nodiscard]] virtual spi::capabilities capabilities() const noexcept = 0;
    // As `backend::capability_hint`.
    [[nodiscard]] virtual std::string capability_hint(lock_mode mode, bool fair) const = 0;
};

}  // namespace pawl::sql
