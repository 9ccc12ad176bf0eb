// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Undoes requests whose outcome is unknown. A client has one queue for each server: if one undo
// fails, the others for the same server usually fail, too, but not those for other servers.
#pragma once

#include "../topology/topology.hpp"
#include "core/util/spi.hpp"
#include "limits.hpp"

#include "../../core/util/back_off.hpp"
#include "../../core/util/fork_mark.hpp"
#include "../../core/util/wakeup.hpp"

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

namespace pawl::redis {

// Sends the undo request; repeating it is harmless.
using request_sender = std::function<boost::asio::awaitable<reply>(time_point give_up_at)>;

// Used on one strand. While the server answers, undos are sent without a pause, up to
// `max_concurrent_undos` at the same time. After a refused or unanswered undo, only one at a time
// is sent, with growing pauses, until one succeeds.
//
// "The original request" is the request that an undo undoes.
class undo_queue : public std::enable_shared_from_this<undo_queue> {
public:
    // For the requests that were sent over `server_link`, a link of the topology.
    undo_queue(std::shared_ptr<topology> servers, const link& server_link, backend_context context,
               const limits& bounds, duration reply_timeout);

    // How a request is sent. Taken before that.
    struct origin {
        std::uint64_t connection_number = 0;
        std::uint64_t asked_elsewhere = 0;  // topology::asked_elsewhere
    };
    struct undo {
        std::string lock;   // the lock's key
        std::string value;  // the `caller_value` of the request; empty: none
        request_sender send;
    };
    class entry {
    public:
        explicit entry(undo prepared_action) : action(std::move(prepared_action)) {}
        undo action;

    private:
        friend class undo_queue;
        // True: the server has confirmed the undo often enough. It is repeated only because the
        // original request, sent over another connection, may still arrive.
        [[nodiscard]] bool has_enough_confirmations() const noexcept {
            return confirmations_ >= required_confirmations;
        }

        // The latest end of the original request's lease, unless the server executes it very late.
        time_point lease_end_{};
        // Of the connection that sent the original request.
        std::uint64_t connection_number_ = 0;
        // The original request may have been sent again, over a connection to another server.
        bool may_be_elsewhere_ = false;
        time_point due_{};  // when to send the undo next
        duration pause_{};  // the last pause between two confirmed undos
        unsigned confirmations_ = 0;
        bool is_in_flight_ = false;
        bool was_refused_ = false;  // the last outcome was `refused`
    };
    // An undo that is created before the original request is sent, so that `add` needs no memory.
    using prepared_entry = std::list<entry>;
    [[nodiscard]] static prepared_entry prepare(undo action);

    // Sends the undo until the server confirms it or it is `impossible`, or until the lease of the
    // original request has ended and the server still refuses the undo.
    //
    // `sent`: how the original request was sent. If the undo is confirmed over another connection,
    // or the original request may have gone to another server since (ASK), a server may still
    // execute the original request. So the undo is
    // then repeated, with growing pauses, until that lease ends and it has been confirmed
    // `required_confirmations` times. It does not wait for the end of the lease if it has a
    // `value`, if the queue holds more than twice `max_undos`, or if the client closes.
    //
    // `lease`: the longest lease that the original request can have taken. If there is no memory to
    // send the undo, the next `add` or the next connection tries again.
    void add(prepared_entry prepared_undo, duration lease, const origin& sent) noexcept;
    // Of a request that is sent now.
    [[nodiscard]] origin present_origin() const noexcept {
        return {link_.current().connection_number, servers_->asked_elsewhere()};
    }
    [[nodiscard]] const link& server_link() const noexcept { return link_; }

    [[nodiscard]] bool contains(std::string_view lock, std::string_view value) const;
    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
    // True: no request may be sent that may need an undo, because too many undos are pending.
    [[nodiscard]] bool is_full() const noexcept;

    // Sends a pending undo now, without waiting for the pause to end. For a new connection.
    void retry_now();
    // The client closes. As `retry_now`, and gives up the undos that the server refuses because of
    // a missing permission, and those that are repeated although they are confirmed often enough.
    void begin_shutdown();
    // The link closes, or this process is a fork: nothing is sent any more. An undo in flight is
    // dropped when it ends.
    void stop();
    boost::asio::awaitable<void> wait_until_empty(time_point deadline);

private:
    // An undo that is sent over another connection than the original request must be confirmed this
    // often, because the original request may arrive after the undo.
    static constexpr unsigned required_confirmations = 3;

    using iterator = std::list<entry>::iterator;
    enum class outcome : std::uint8_t {
        confirmed,   // the server executed the undo
        impossible,  // final: the server will never execute the undo
        refused,     // the server replied with an error; a later undo may succeed
        failed       // no reply
    };

    class run_guard;
    class send_guard;

    boost::asio::awaitable<void> run(std::shared_ptr<undo_queue> self);
    boost::asio::awaitable<void> send(send_guard guard);
    void resume() noexcept;
    boost::asio::awaitable<outcome> try_undo(const entry& tried);
    void start(iterator position) noexcept;
    void start_due(time_point now) noexcept;
    void drop_expired(time_point now);
    void notify_if_empty() noexcept {
        if (entries_.empty()) emptied_.notify();
    }
    void log(const std::string& line) const noexcept;
    iterator erase(iterator position) noexcept;
    template <class Condition>
    void erase_if(Condition is_meant);
    void settle(iterator position, outcome result);
    void handle_failure(iterator position, time_point now);
    [[nodiscard]] bool is_expired(const entry& candidate, time_point now) const noexcept;
    [[nodiscard]] bool needs_no_repetition(const entry& candidate, time_point now) const noexcept;
    [[nodiscard]] time_point next_start() const;

    const core::fork_mark made_in_;
    const std::shared_ptr<topology> servers_;
    const link& link_;
    const backend_context context_;
    const limits bounds_;
    const duration reply_timeout_;
    std::list<entry> entries_;
    std::size_t unconfirmed_ = 0;  // entries without enough confirmations
    std::size_t in_flight_ = 0;
    core::back_off back_off_;
    bool is_failing_ = false;  // the last undo failed: one at a time, not before `retry_at_`
    time_point retry_at_{};
    core::wakeup changed_;
    core::wakeup emptied_;
    bool is_running_ = false;  // `run` is active
    bool is_closing_ = false;  // since `begin_shutdown`: undos are still sent
    bool is_stopped_ = false;  // since `stop`: nothing is sent any more
};

}  // namespace pawl::redis
