// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One claim, from its request until it is granted, given up or failed. Its destructor undoes what
// it has not settled.
#pragma once

#include "lock_client.hpp"

#include "../core/util/wakeup.hpp"

#include <memory>
#include <optional>
#include <string>

namespace pawl::etcd {

class acquire_attempt final : private watch_listener, private session_listener {
public:
    acquire_attempt(std::shared_ptr<lock_client> client, const claim& requested,
                    time_point give_up_at);
    ~acquire_attempt();
    acquire_attempt(const acquire_attempt&) = delete;
    acquire_attempt& operator=(const acquire_attempt&) = delete;

    // As backend::acquire.
    boost::asio::awaitable<std::optional<grant>> run();

private:
    // Without an end, one key.
    struct watched_keys {
        std::string key{}, end{};
    };
    // What the request has found.
    enum class state : std::uint8_t { granted, in_line, refused };

    boost::asio::awaitable<void> get_leases();
    boost::asio::awaitable<state> request();
    [[nodiscard]] transaction make_request() const;
    // The guards or the total have changed: the request is to be repeated with those of the answer.
    void take_refusal(const transaction_answer& answer);
    void take_total(const operation_answer& answer);
    void follow_total(const operation_answer& answer);
    boost::asio::awaitable<void> get_total();
    boost::asio::awaitable<std::optional<grant>> wait_in_line();
    boost::asio::awaitable<void> wait_for_change(std::size_t position, core::blocker obstacle);
    boost::asio::awaitable<void> look();
    boost::asio::awaitable<void> leave();
    // The grant for the entry at this position, which has no blocker; empty if it must wait for the
    // token of the first reader.
    boost::asio::awaitable<std::optional<grant>> try_grant(std::size_t position);
    boost::asio::awaitable<grant> grant_confirmed(entry_value value);
    [[nodiscard]] grant grant_unconfirmed(std::uint64_t token);
    [[nodiscard]] grant make_grant(const core::session_ptr& lease, std::uint64_t token) const;
    [[nodiscard]] entry_value value_with(token_place place, std::uint64_t token = 0) const;
    void watch(std::string key, std::string end, bool deletes_only);
    void expect_leases() const;
    [[nodiscard]] time_point request_limit() const;
    [[nodiscard]] bool may_wait() const noexcept { return give_up_at_ > began_at_; }
    // The key is put even if another entry is there: its place in the line decides.
    [[nodiscard]] bool joins_line() const noexcept;

    void on_session_end() override;
    void on_watch_begin() override;
    void on_change(const watch_event& change) override;

    const std::shared_ptr<lock_client> client_;
    const claim& requested_;
    const time_point began_at_, give_up_at_;
    const std::string beginning_;  // of the line's keys
    lock_key key_;
    std::shared_ptr<core::session_use> use_, waiting_use_;
    bool is_sent_ = false;     // the store may have the key
    bool is_settled_ = false;  // nothing is to be undone
    bool was_queued_ = false;
    std::int64_t created_ = 0;
    std::uint32_t total_ = 0;
    std::optional<lock_line> line_;
    watched_keys watched_;
    bool is_holder_watched_ = false;        // the watched key is that of an exclusive holder
    std::optional<std::int64_t> freed_at_;  // the revision at which that holder's key was removed
    scoped_watch watch_, total_watch_;
    core::wakeup wakeup_;
};

}  // namespace pawl::etcd
