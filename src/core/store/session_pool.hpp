// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The sessions of a client at a store whose locks end with a session, which some stores call a
// lease. All holds with the same ttl share a session, so one heartbeat extends them all. The
// requests themselves belong to the backend.
#pragma once

#include "../util/in_flight.hpp"
#include "../util/wakeup_list.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::core {

// A session at the store. A heartbeat proves the session, and not that a lock still belongs to it.
class pooled_session {
public:
    pooled_session(std::string name, duration time_to_live, time_point opened_at)
        : id_(std::move(name)), ttl_(time_to_live), proved_at_(opened_at), used_at_(opened_at) {}

    [[nodiscard]] const std::string& id() const noexcept { return id_; }
    [[nodiscard]] duration ttl() const noexcept { return ttl_; }
    // Before the last confirmed heartbeat was sent.
    [[nodiscard]] time_point proved_at() const noexcept { return proved_at_; }
    // A hold of the session lasts until then, unless a later heartbeat is confirmed.
    [[nodiscard]] time_point deadline() const noexcept { return proved_at_ + ttl_ - drift(ttl_); }
    // Has ended at the store, or may have. Nothing revives it.
    [[nodiscard]] bool is_over() const noexcept { return is_over_; }

private:
    friend class session_pool;
    friend class session_use;

    const std::string id_;
    const duration ttl_;
    time_point proved_at_;
    time_point used_at_;
    bool is_over_ = false;
    bool is_wanted_ = false;  // a heartbeat is due at once
    std::size_t users_ = 0;
    wakeup* timer_ = nullptr;
};
using session_ptr = std::shared_ptr<pooled_session>;

// Keeps a session in use while it lives, such as that of a waiter.
class session_use {
public:
    explicit session_use(session_ptr used) : session_(std::move(used)) { ++session_->users_; }
    ~session_use() { --session_->users_; }
    session_use(const session_use&) = delete;
    session_use& operator=(const session_use&) = delete;

private:
    const session_ptr session_;
};

// The requests about sessions, which a backend implements. All run on the client's strand.
class session_requests {
public:
    virtual ~session_requests() = default;
    // Makes a session with this ttl and returns its id. Throws pawl::error.
    virtual boost::asio::awaitable<std::string> open(duration ttl, time_point give_up_at) = 0;
    // False: the store answered that the session has ended. Throws pawl::error if it is not known.
    virtual boost::asio::awaitable<bool> send_heartbeat(const pooled_session& proved,
                                                        time_point give_up_at) = 0;
    // Ends the session at the store. Throws pawl::error if it is not known whether it has ended.
    virtual boost::asio::awaitable<void> end(const pooled_session& ended,
                                             time_point give_up_at) = 0;
    // The session is over. Called once for each session, also for those that `close` ends.
    virtual void on_session_end(const pooled_session& ended) noexcept = 0;
};

// The limits of a pool.
struct session_limits {
    std::size_t most_sessions = 16;                  // with different ttls
    duration keep_unused = std::chrono::minutes(1);  // or twice the ttl, if that is longer
    duration longest_request = std::chrono::seconds(5);
};

// Used on one strand. Every session has a coroutine, which keeps the pool and its requests.
class session_pool : public std::enable_shared_from_this<session_pool> {
public:
    session_pool(std::shared_ptr<session_requests> requests, const backend_context& context,
                 const session_limits& limits = {});

    // The session with this ttl, which is made if there is none, and counts as used. Throws what
    // `open` throws, errc::unreachable at `give_up_at`, and errc::exhausted if there are
    // `most_sessions` and all of them are in use.
    boost::asio::awaitable<session_ptr> get(duration ttl, time_point give_up_at);
    // The open session with this id; null if there is none.
    [[nodiscard]] session_ptr find(std::string_view id) const noexcept;
    // A session that is not used for some time is ended. Each renewal of a hold is a use.
    void use(pooled_session& used) const noexcept { used.used_at_ = time_.now(); }

    // Completes when a heartbeat that was sent `max_age` ago or later is confirmed. False: none was
    // until `give_up_at`, or the session is over.
    boost::asio::awaitable<bool> prove(session_ptr session, duration max_age,
                                       time_point give_up_at);
    // The store has said that the session is over, in the answer to another request.
    void on_end(const session_ptr& ended) noexcept;

    // Ends all sessions, at the store as far as it answers until `give_up_at`. None is made after.
    boost::asio::awaitable<void> close(time_point give_up_at);
    // As `close`, without a request: for a fork of the process.
    void abandon() noexcept;

private:
    struct opening;

    [[nodiscard]] session_ptr find(duration ttl) const noexcept;
    [[nodiscard]] bool has_holds(const pooled_session& session) const noexcept;
    [[nodiscard]] time_point unused_at(pooled_session& session) const noexcept;
    [[nodiscard]] time_point request_limit(const pooled_session& session) const noexcept;
    void make_room();
    static boost::asio::awaitable<void> open(std::shared_ptr<session_pool> self,
                                             std::shared_ptr<opening> opened,
                                             time_point give_up_at);
    static boost::asio::awaitable<void> keep(std::shared_ptr<session_pool> self,
                                             session_ptr session);
    // True: the store has answered.
    boost::asio::awaitable<bool> send_heartbeat(session_ptr session);
    boost::asio::awaitable<void> end_at_store(session_ptr session, time_point give_up_at);

    const std::shared_ptr<session_requests> requests_;
    runtime& time_;
    const boost::asio::any_io_executor strand_;
    const session_limits limits_;
    std::vector<session_ptr> sessions_;
    std::vector<std::shared_ptr<opening>> openings_;
    wakeup_list changed_;  // a heartbeat was confirmed, a session has ended, or an opening has
    in_flight keepers_;
    bool is_closed_ = false;
};

}  // namespace pawl::core
