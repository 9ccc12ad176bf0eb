// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One client's side of the locks: its attempts, its holds, and what it still has to undo.
//
// An attempt is one transaction: the guard key is as the client knows it, the lock's key does not
// exist, the session locks it. A client whose request has no answer cannot know whether it is still
// under way. So an undo changes the guard key first: a later arrival of the request is refused.
//
// A hold is known by the ModifyIndex of its grant, which is also its fencing token. Renewals,
// releases and undos compare it: a session may lock a key again, in a later hold.
#pragma once

#include "api.hpp"
#include "keys.hpp"
#include "sessions.hpp"

#include "../core/util/fork_mark.hpp"
#include "../core/util/in_flight.hpp"
#include "../core/util/wakeup.hpp"

#include <boost/asio/awaitable.hpp>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pawl::consul {

class lock_client : public std::enable_shared_from_this<lock_client> {
public:
    lock_client(const options& settings, const backend_context& context);

    // As the functions of `backend`. The caller's coroutine must not throw a cancellation at the
    // co_awaits of `acquire` and `acquire_batch`: what follows a cancelled request needs them.
    boost::asio::awaitable<std::optional<grant>> acquire(const claim& requested,
                                                         time_point give_up_at);
    boost::asio::awaitable<std::vector<grant>> acquire_batch(std::span<const claim> claims,
                                                             time_point give_up_at);
    boost::asio::awaitable<void> renew(renewal_batch& batch);
    boost::asio::awaitable<release_result> release(const hold& held);
    boost::asio::awaitable<lock_info> inspect(std::string name);
    boost::asio::awaitable<std::vector<lock_info>> list(std::string prefix);
    boost::asio::awaitable<bool> force_release(std::string name, fencing_token expected);
    boost::asio::awaitable<void> close(time_point give_up_at);

    // The names of one transaction: it has at most 64 operations.
    static constexpr std::size_t most_in_batch = 31;

    [[nodiscard]] api& server() noexcept { return *server_; }
    [[nodiscard]] const backend_context& context() const noexcept { return context_; }
    [[nodiscard]] time_point now() const noexcept { return context_.time->now(); }
    [[nodiscard]] time_point try_deadline() const noexcept { return now() + context_.try_limit; }
    [[nodiscard]] bool is_forked() const noexcept { return made_in_.is_forked(); }
    void throw_if_forked() const { made_in_.throw_if_forked(); }

private:
    class acquire_attempt;
    struct held_key {
        std::string key;
        std::uint64_t index = 0;
        std::shared_ptr<session> holder;
        time_point deadline;  // after it, the core has reported a loss
    };
    using held_keys = std::map<std::string, held_key, std::less<>>;  // by owner
    enum class key_state : std::uint8_t { held, missing, changed };
    // Of a transaction. locked: or the key is not as it was read. delayed: its last session ended a
    // short time ago. repeat: the session or its guard key has changed.
    enum class outcome : std::uint8_t { granted, locked, delayed, repeat };

    // The operations that lock a key: first those of all, then two for each key. `free_at`: the
    // index of a key that nobody has locked; 0: there is no key.
    [[nodiscard]] std::vector<operation> begin_acquire(const session& used) const;
    void append_acquire(std::vector<operation>& operations, const claim& requested,
                        const std::string& key, const session& used, std::uint64_t free_at) const;
    boost::asio::awaitable<outcome> evaluate(std::vector<refusal> refusals,
                                             std::shared_ptr<session> used);

    // `known_index`: the highest one before the request was sent. Throws if the new one is smaller.
    grant add_hold(const claim& requested, held_key added, std::uint64_t known_index);
    boost::asio::awaitable<void> renew_session(std::shared_ptr<session> renewed,
                                               renewal_batch& batch,
                                               std::vector<std::size_t> members,
                                               time_point give_up_at);
    void settle(renewal_batch& batch, std::size_t member, key_state state);
    boost::asio::awaitable<std::vector<key_state>> check(std::vector<operation> checks,
                                                         time_point give_up_at);
    // Deletes the key if it is still that of the hold. False: it is not.
    boost::asio::awaitable<bool> delete_key(const held_key& ended, time_point give_up_at);
    boost::asio::awaitable<release_result> reason_of_end(const held_key& ended,
                                                         time_point give_up_at);
    // Repeats `delete_key` until there is an answer, or the session has ended.
    void end_in_background(const held_key& ended);
    static boost::asio::awaitable<void> end(std::shared_ptr<lock_client> self, held_key ended);
    // An attempt of this owner may still arrive, or have been granted.
    void undo_in_background(const std::string& owner, const std::string& key,
                            const std::shared_ptr<session>& holder);
    static boost::asio::awaitable<void> undo(std::shared_ptr<lock_client> self, std::string owner,
                                             held_key attempted);
    boost::asio::awaitable<void> undo_once(const std::string& owner, const held_key& attempted);
    // Ends holds whose deadline is over: the core does not release a hold that it has reported as
    // lost, and the session may last.
    void plan_sweep(time_point deadline);
    static boost::asio::awaitable<void> sweep(std::shared_ptr<lock_client> self);
    [[nodiscard]] boost::asio::awaitable<lock_info> to_info(std::string name, entry stored);

    const backend_context context_;
    const core::fork_mark made_in_;
    const key_scheme keys_;
    core::in_flight operations_;
    const std::shared_ptr<api> server_;
    sessions sessions_;
    held_keys holds_;
    core::wakeup sweeper_wakeup_;
    time_point next_sweep_ = time_point::max();  // max: the sweeper does not run
    bool is_closing_ = false;
    std::uint64_t highest_index_ = 0;
};

}  // namespace pawl::consul
