// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The requests of a connection that wait for their replies, which come in order. No I/O.
#pragma once

#include "messages.hpp"
#include "session_evidence.hpp"

#include "../core/util/wakeup.hpp"

#include <deque>
#include <memory>
#include <optional>

namespace pawl::zookeeper {

// A request that was sent, and its answer.
struct pending_reply {
    pending_reply(runtime& time, const boost::asio::any_io_executor& strand)
        : answered(time, strand) {}
    void fail() {
        has_failed = true;
        answered.notify();
    }

    reply answer;
    std::int32_t xid = 0;
    operation type{};
    time_point sent_at{};
    bool is_answered = false;
    bool has_failed = false;  // no answer will come
    core::wakeup answered;
};
using pending_ptr = std::shared_ptr<pending_reply>;

class outstanding_requests {
public:
    // The first number is for tests.
    explicit outstanding_requests(duration tick, std::int32_t first_xid = 1) noexcept
        : evidence(tick), next_xid_(first_xid) {}

    // Numbers the request. Negative numbers have a meaning of their own, so 1 follows the largest.
    void add(const pending_ptr& sent);
    void add_ping(time_point sent_at) { pings_.push_back(sent_at); }
    // Takes the frame of a reply; an event is returned. Throws errc::protocol for a reply that was
    // not expected.
    std::optional<node_event> take(std::string_view frame);
    // No request will be answered any more.
    void fail_all();

    [[nodiscard]] bool empty() const noexcept { return pending_.empty() && pings_.empty(); }
    // time_point::max() if nothing waits for a reply.
    [[nodiscard]] time_point oldest() const noexcept;
    // The newest change that a server has shown.
    [[nodiscard]] std::int64_t last_change() const noexcept { return last_change_; }
    // True: the server has refused the login.
    [[nodiscard]] bool is_login_refused() const noexcept { return is_login_refused_; }

    session_evidence evidence;

private:
    void take_reply(const reply_header& header, std::string_view body);

    std::int32_t next_xid_;
    std::deque<pending_ptr> pending_;
    std::deque<time_point> pings_;
    std::int64_t last_change_ = 0;
    bool is_login_refused_ = false;
};

}  // namespace pawl::zookeeper
