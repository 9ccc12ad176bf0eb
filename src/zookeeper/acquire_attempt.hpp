// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One claim, from its request until it is granted, given up or failed. It runs beside its caller,
// whose cancellation must not end what follows a request.
#pragma once

#include "lock_client.hpp"

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pawl::zookeeper {

// Used on the strand.
class acquire_attempt final : public watcher,
                              public session_user,
                              public std::enable_shared_from_this<acquire_attempt> {
public:
    acquire_attempt(std::shared_ptr<lock_client> client, const claim& requested,
                    time_point give_up_at);
    ~acquire_attempt();
    acquire_attempt(const acquire_attempt&) = delete;
    acquire_attempt& operator=(const acquire_attempt&) = delete;

    static boost::asio::awaitable<void> run(std::shared_ptr<acquire_attempt> self);
    // The grant is taken from an attempt that has ended. Rethrows its failure.
    boost::asio::awaitable<std::optional<grant>> result();
    // The caller has gone: the claim is undone, also if it was granted.
    void abandon() noexcept;

    void on_change(const node_event& event) override;
    void on_session_end(const session& ended) override;
    [[nodiscard]] bool uses(const session& other) const noexcept override {
        return used_.get() == &other;
    }

private:
    boost::asio::awaitable<void> acquire();
    boost::asio::awaitable<void> create();
    boost::asio::awaitable<bool> create_once();
    boost::asio::awaitable<void> find_created(std::string reason);
    boost::asio::awaitable<void> look();
    boost::asio::awaitable<void> look_at_total();
    // granted: there is a grant. look: the line has changed. leave: it is time to give up.
    enum class step : std::uint8_t { granted, look, leave };
    boost::asio::awaitable<step> evaluate();
    [[nodiscard]] duration waiting_ttl() const noexcept;
    boost::asio::awaitable<step> move_to_waiters(std::shared_ptr<session> target);
    boost::asio::awaitable<step> share(std::size_t own_position);
    boost::asio::awaitable<step> wait_for(std::string path, watch_kind kind, time_point limit);
    // True: the node has changed, or is gone.
    boost::asio::awaitable<bool> set_watch(std::string path, watch_kind kind);
    void accept_children(const reply& answer);
    void check_sequence() const;
    // `is_phase_stored`: no later reader looks for the token in the node, or finds it there.
    step grant_with(std::int64_t token, bool is_phase_stored);
    void undo() noexcept;
    [[nodiscard]] time_point request_limit() const noexcept;
    [[nodiscard]] bool may_wait() const noexcept;
    [[nodiscard]] core::lock_share own_share() const noexcept;

    const std::shared_ptr<lock_client> client_;
    const claim requested_;
    const time_point give_up_at_;
    const std::string lock_path_;
    std::shared_ptr<session> used_;
    std::string path_;             // of the own node
    std::int64_t created_by_ = 0;  // the own node's czxid
    time_point asked_at_{};
    bool is_sent_ = false;  // the own node may exist
    std::vector<contender> line_;
    std::uint32_t total_ = 0;
    bool was_queued_ = false;
    bool has_changed_ = false;
    bool is_abandoned_ = false;
    bool is_done_ = false;
    core::wakeup changed_;
    core::wakeup done_;
    std::exception_ptr failure_;
    std::optional<grant> granted_;
};

// As of `backend`.
[[nodiscard]] boost::asio::awaitable<std::optional<grant>> acquire(
    std::shared_ptr<lock_client> client, const claim& requested, time_point give_up_at);

}  // namespace pawl::zookeeper
