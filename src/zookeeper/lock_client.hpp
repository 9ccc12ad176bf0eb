// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One client's side of the locks: its sessions, its holds, and what it still has to undo.
#pragma once

#include "held_node.hpp"
#include "nodes.hpp"
#include "session_pool.hpp"

#include "../core/util/in_flight.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pawl::zookeeper {

struct renewal_round;

// An attempt that has a node, or will have one.
class session_user {
public:
    virtual void on_session_end(const session& ended) = 0;
    [[nodiscard]] virtual bool uses(const session& other) const noexcept = 0;

protected:
    ~session_user() = default;
};

// Used on the client's strand. Every coroutine of the backend keeps its client.
class lock_client : public std::enable_shared_from_this<lock_client> {
public:
    static std::shared_ptr<lock_client> make(std::shared_ptr<const client_settings> settings,
                                             const backend_context& context);
    lock_client(std::shared_ptr<const client_settings> settings, const backend_context& context);

    // As of `backend`.
    boost::asio::awaitable<void> renew(renewal_batch& batch);
    boost::asio::awaitable<release_result> release(const hold& held);
    boost::asio::awaitable<std::optional<grant>> downgrade(const hold& held);
    boost::asio::awaitable<void> resize(std::string_view name, std::uint32_t permits);
    boost::asio::awaitable<void> close(time_point give_up_at);

    [[nodiscard]] const client_settings& settings() const noexcept { return *settings_; }
    [[nodiscard]] const std::shared_ptr<const client_settings>& shared_settings() const noexcept {
        return settings_;
    }
    [[nodiscard]] const backend_context& context() const noexcept { return context_; }
    [[nodiscard]] session_pool& sessions() noexcept { return *sessions_; }
    [[nodiscard]] time_point now() const noexcept { return context_.time->now(); }
    // The limit of a request that waits for nobody.
    [[nodiscard]] time_point try_deadline() const noexcept { return now() + context_.try_limit; }
    [[nodiscard]] core::in_flight& operations() noexcept { return operations_; }
    [[nodiscard]] bool is_forked() const noexcept { return made_in_.is_forked(); }
    void throw_if_forked() const { made_in_.throw_if_forked(); }
    [[nodiscard]] std::string path_of(std::string_view name) const {
        return zookeeper::path_of(settings_->root, name);
    }

    // For attempts.
    void add(session_user& attempt) { attempts_.insert(&attempt); }
    void remove(session_user& attempt) noexcept { attempts_.erase(&attempt); }
    // A granted node becomes a hold. Unless `is_phase_stored`, its token is stored in the node, for
    // readers that come later.
    grant add_hold(const claim& requested, const std::shared_ptr<session>& used, std::string path,
                   time_point asked_at, fencing_token token, bool is_phase_stored);
    // The hold is undone: its caller has gone.
    void undo_hold(const std::string& owner);
    // Makes the nodes above a lock's node.
    boost::asio::awaitable<void> make_node(std::shared_ptr<session> used, std::string path,
                                           time_point give_up_at);
    // Removes the node of an attempt, by its path, or else by its owner, until that is confirmed or
    // the session has ended.
    void undo_in_background(std::shared_ptr<session> used, std::string path, std::string lock_path,
                            std::string owner);
    [[nodiscard]] std::string data_text(std::uint64_t phase, std::uint64_t created_by = 0) const;

private:
    using hold_ptr = std::shared_ptr<held_node>;

    static boost::asio::awaitable<void> undo(std::shared_ptr<lock_client> self,
                                             std::shared_ptr<session> used, std::string path,
                                             std::string lock_path, std::string owner);
    static boost::asio::awaitable<void> store_phase(std::shared_ptr<lock_client> self,
                                                    hold_ptr held);
    static boost::asio::awaitable<void> watch_node(std::shared_ptr<lock_client> self,
                                                   hold_ptr held);
    static boost::asio::awaitable<void> prove(std::shared_ptr<lock_client> self,
                                              std::shared_ptr<session> used,
                                              std::shared_ptr<renewal_round> round,
                                              std::vector<std::size_t> indexes);
    static boost::asio::awaitable<void> move(std::shared_ptr<lock_client> self, hold_ptr held,
                                             std::shared_ptr<renewal_round> round,
                                             std::size_t index);
    boost::asio::awaitable<bool> move_node(hold_ptr held, std::shared_ptr<session> target,
                                           time_point give_up_at);
    boost::asio::awaitable<void> prove_session(std::shared_ptr<session> used,
                                               time_point give_up_at);
    boost::asio::awaitable<bool> replace_node(hold_ptr held, std::string reader_path,
                                              time_point give_up_at);
    void on_removed(const std::string& owner);
    void on_session_end(session& ended);
    void on_tick(session& ticking);
    [[nodiscard]] bool is_used(const session& sought) const noexcept;
    [[nodiscard]] time_point deadline_of(const session& used, time_point asked_at,
                                         duration ttl) const noexcept;

    const std::shared_ptr<const client_settings> settings_;
    const backend_context context_;
    const core::fork_mark made_in_;
    core::in_flight operations_;
    std::shared_ptr<session_pool> sessions_;
    std::map<std::string, hold_ptr, std::less<>> holds_;  // by owner
    std::set<session_user*> attempts_;
    bool is_closing_ = false;
};

}  // namespace pawl::zookeeper
