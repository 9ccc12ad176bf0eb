// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One client's side of the locks: its calls, its waiters, and what it still has to undo.
#pragma once

#include "answers.hpp"
#include "database_client.hpp"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace pawl::sql {

class lock_client final : public one_session_client,
                          public std::enable_shared_from_this<lock_client> {
public:
    static std::shared_ptr<lock_client> make(std::unique_ptr<connector> database,
                                             std::string name_space,
                                             const backend_context& context);
    lock_client(std::string name_space, const backend_context& context);

    // As `backend::acquire`; the caller's coroutine must not throw a cancellation at its co_awaits,
    // because what follows a cancelled request needs co_awaits, too.
    boost::asio::awaitable<std::optional<grant>> acquire(const claim& requested,
                                                         time_point give_up_at);
    boost::asio::awaitable<std::vector<grant>> acquire_batch(std::span<const claim> claims,
                                                             time_point give_up_at);
    boost::asio::awaitable<release_result> release(const claim& requested);
    // As `backend::confirm_durability`.
    boost::asio::awaitable<void> confirm_durability(std::span<const hold* const> holds,
                                                    durability wanted, time_point give_up_at);

    // Runs a call that `compose(caller)` makes for the present session. Ends the session, and
    // throws errc::unavailable, if it answers that it must say hello first.
    template <class Compose>
    boost::asio::awaitable<std::vector<row>> run(Compose compose, time_point give_up_at) {
        const core::in_flight::guard operation(operations_);
        throw_if_forked();
        const auto used = co_await sessions_->get(give_up_at);
        const call request = compose(caller_on(*used));
        co_return co_await run_on(used, request, give_up_at);
    }
    boost::asio::awaitable<std::vector<row>> run_on(const std::shared_ptr<session>& used,
                                                    const call& request, time_point give_up_at);

    [[nodiscard]] caller caller_on(const session& used) const noexcept {
        return {name_space_, used.facts(), process_};
    }

    // Called for a message about a latch, and for each end of a session with an empty name.
    std::function<void(std::string_view name)> on_latch;

private:
    class acquire_attempt;

    void on_message(std::string_view text);
    static boost::asio::awaitable<void> confirm_loss(std::shared_ptr<lock_client> self,
                                                     std::string owner, std::string name);
    void on_session_end(const std::string& client);
    void on_hearing(bool is_hearing);
    // Repeats a leave without `keep`, with growing pauses, until the database confirms that no
    // request of this session can still arrive, or the ttl is over.
    void undo_in_background(const claim& requested, const std::string& claimed_by);
    static boost::asio::awaitable<void> undo(std::shared_ptr<lock_client> self, claim requested,
                                             std::string claimed_by);

    const std::string name_space_;
    const std::string process_;
    bool is_hearing_ = true;
    std::unordered_map<std::string_view, acquire_attempt*> attempts_;  // in the queue, by owner
};

}  // namespace pawl::sql
