// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One request that waits for its replies. The object lives in its caller's coroutine frame.
#pragma once

#include "link.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis {

// Appends one command in the encoding of the protocol (RESP).
void append_command(std::string& target, std::span<const std::string_view> words);

// Used on one strand. `connection::send` enters the request into the connection's queue.
class pending_request {
public:
    // The queue in which the request waits under a number: a connection.
    class queue : public std::enable_shared_from_this<queue> {
    public:
        virtual ~queue() = default;
        virtual void cancel(std::uint64_t number) = 0;
        virtual void forget(std::uint64_t number) noexcept = 0;
        [[nodiscard]] virtual const boost::asio::any_io_executor& executor() const noexcept = 0;
    };

    pending_request() = default;
    ~pending_request() { leave_queue(); }
    pending_request(const pending_request&) = delete;
    pending_request& operator=(const pending_request&) = delete;

    // Handler: void(). Completes when the last reply has arrived, `fail` was called, or the caller
    // was cancelled.
    auto async_wait() {
        const initiation initiate{this};
        return boost::asio::async_initiate<const boost::asio::deferred_t, void()>(
            initiate, boost::asio::deferred);
    }
    void fail(const std::string& reason);

    // For the queue only.
    void enter(queue& waits_in, std::uint64_t number) noexcept {
        queue_ = &waits_in;
        number_ = number;
    }
    void receive(reply&& message, bool is_last);
    void cancel();
    void drop_handler() noexcept;

    // Throws operation_aborted if the caller was cancelled, connection_lost if the request failed;
    // otherwise does nothing.
    void throw_if_failed(const std::string& subject) const;

    reply last_reply;
    std::vector<reply> earlier_replies;  // all replies before `last_reply`
    time_point reply_due_at = time_point::max();
    time_point give_up_at = time_point::max();

private:
    using completion_handler = boost::asio::any_completion_handler<void()>;
    struct initiation {
        pending_request* request;
        void operator()(completion_handler handler) const { request->wait(std::move(handler)); }
    };

    void wait(completion_handler handler);
    void leave_queue() noexcept;
    void complete_soon();

    queue* queue_ = nullptr;  // null: the request waits in no queue
    std::uint64_t number_ = 0;
    completion_handler handler_;
    std::string failure_;  // why there will be no reply; empty: no failure
    bool is_cancelled_ = false;
};

}  // namespace pawl::redis
