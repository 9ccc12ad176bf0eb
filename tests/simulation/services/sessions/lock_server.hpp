// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A server with locks of sessions: a queue for each lock, and a limit for idle sessions.
#pragma once

#include "../database/database_server.hpp"

#include <pawl/service.hpp>

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::simulation {

enum class session_bug : std::uint8_t {
    none,
#define PAWL_BUG(name) name,
#include "session_bugs.def"
#undef PAWL_BUG
};

inline constexpr std::array session_bug_names{
#define PAWL_BUG(name) std::pair{session_bug::name, std::string_view(#name)},
#include "session_bugs.def"
#undef PAWL_BUG
};

class lock_server final : public database_server {
public:
    using answer_handler = client_connection::answer_handler;
    // The session has ended, or is about to end, with the lock.
    using end_observer =
        std::function<void(const simulated_process&, const std::string& key, loss_reason)>;

    lock_server(scheduler& loop, prng random, session_bug bug, end_observer on_end_of_lock)
        : database_server(loop, random),
          bug_(bug),
          has_readers_(random_.happens(0.5)),
          on_end_of_lock_(std::move(on_end_of_lock)) {}

    [[nodiscard]] service connect(simulated_process& process);

    // The statements.
    void set_idle_limit(const server_session_ptr& session, duration limit);
    // Answers "t" or "f"; later, if the session waits.
    void lock(const server_session_ptr& session, const std::string& key, lock_mode mode, bool waits,
              const answer_handler& answer);
    [[nodiscard]] bool unlock(const server_session_ptr& session, const std::string& key);
    // Ends the sessions of the holders.
    [[nodiscard]] bool kill_holders(const std::string& key);
    // The session is not idle.
    void hear(const server_session_ptr& session);

    [[nodiscard]] session_bug bug() const noexcept { return bug_; }
    // As PostgreSQL; else as MySQL.
    [[nodiscard]] bool has_readers() const noexcept { return has_readers_; }
    // For the rules.
    [[nodiscard]] std::vector<server_session_ptr> holders(const std::string& key) const;
    [[nodiscard]] bool has_locks() const;

private:
    struct lock_place {
        server_session_ptr session;
        lock_mode mode = lock_mode::exclusive;
        answer_handler answer{};  // of a waiter
    };
    struct session_lock {
        std::vector<lock_place> holders;
        std::deque<lock_place> queue;
    };

    [[nodiscard]] static bool fits(const session_lock& lock, lock_mode mode);
    void serve(session_lock& lock);
    void on_end(const server_session_ptr& session, loss_reason reason) override;

    const session_bug bug_;
    const bool has_readers_;
    const end_observer on_end_of_lock_;
    std::map<std::string, session_lock> locks_;
};

}  // namespace pawl::simulation
