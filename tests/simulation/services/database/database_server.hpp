// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The server of a database that carries out statements in memory: its sessions, their network, and
// its faults. A service derives the statements.
#pragma once

#include "../../kernel/prng.hpp"
#include "../../kernel/simulated_process.hpp"

#include "core/util/wakeup.hpp"
#include "sql/session.hpp"

#include <pawl/held_lock.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace pawl::simulation {

// A connection. Each side may notice its end first.
struct server_session {
    explicit server_session(simulated_process& client) : process(client) {}

    simulated_process& process;
    bool is_open = true;                        // at the server, which carries out its statements
    bool is_used = true;                        // by the client
    instant sent_until{}, answered_until{};     // the bytes of each direction keep their order
    std::function<void(loss_reason)> on_end{};  // in the process, while it is used
    instant statement_at{};                     // the last one
    // Only for locks of sessions.
    duration idle_limit = std::chrono::hours(24);
    instant heard_at{};
    bool is_waiting = false;  // a statement waits for a lock
};
using server_session_ptr = std::shared_ptr<server_session>;

class database_server {
public:
    database_server(scheduler& loop, prng random) : loop_(loop), random_(random) {}
    virtual ~database_server() = default;
    database_server(const database_server&) = delete;
    database_server& operator=(const database_server&) = delete;

    // The faults. Wild: packets may take seconds.
    void set_wild(bool is_wild) noexcept { is_wild_ = is_wild; }
    // The network keeps the program's packets back.
    void cut_off(const simulated_process& process) { cut_off_.insert(&process); }
    void reconnect(const simulated_process& process);
    // The sockets of a killed program are closed.
    void kill(const simulated_process& process);
    // False: there is no open session.
    bool end_a_session();
    // It does nothing for so long, and loses nothing.
    void freeze(instant length) { frozen_until_ = std::max(frozen_until_, loop_.now() + length); }
    // What is committed stays.
    void restart(instant length);

    [[nodiscard]] scheduler& loop() noexcept { return loop_; }
    [[nodiscard]] prng& random() noexcept { return random_; }
    [[nodiscard]] bool is_up() const noexcept {
        return loop_.now() >= up_at_ && loop_.now() >= frozen_until_;
    }
    [[nodiscard]] bool is_reachable(const simulated_process& process) const {
        return is_up() && !cut_off_.contains(&process);
    }
    [[nodiscard]] std::size_t count_sessions() const noexcept { return sessions_.size(); }

    // For the clients.
    [[nodiscard]] server_session_ptr open(simulated_process& process);
    // Carries out the statement, if the session is still open then.
    void send(const server_session_ptr& session, task statement);
    // Calls the handler in the process, if the client still uses the session.
    void reply(const server_session_ptr& session, task handler);
    void close(const server_session_ptr& session);

protected:
    void end(const server_session_ptr& session, loss_reason reason);
    virtual void on_end(const server_session_ptr& /*session*/, loss_reason /*reason*/) {}
    void run_when_up(task work);

    scheduler& loop_;
    prng random_;
    bool is_wild_ = false;

private:
    [[nodiscard]] instant packet_delay();
    // Runs in the network's time, and not while the program is cut off.
    void deliver(const simulated_process& process, instant when, task packet);

    instant up_at_{}, frozen_until_{};
    std::vector<server_session_ptr> sessions_;
    std::set<const simulated_process*> cut_off_;
    std::map<const simulated_process*, std::deque<task>> kept_back_;
};

// The client's side of a session.
class client_connection : public std::enable_shared_from_this<client_connection> {
public:
    using answer_handler = std::function<void(std::vector<sql::row>)>;
    // Is called at the server, and calls the handler there.
    using statement = std::function<void(const server_session_ptr&, const answer_handler&)>;

    client_connection(database_server& server, runtime& time, boost::asio::any_io_executor executor)
        : server_(server), time_(time), executor_(std::move(executor)) {}
    ~client_connection() { close(); }

    // Throws errc::unreachable and errc::unavailable. `on_end` is called on the executor.
    boost::asio::awaitable<void> open(simulated_process& process,
                                      std::function<void(loss_reason)> on_end,
                                      time_point give_up_at);
    // Throws `no_answer`. A session without any answer for the silence limit ends.
    boost::asio::awaitable<std::vector<sql::row>> ask(statement asked, time_point give_up_at,
                                                      duration silence_limit);
    [[nodiscard]] bool is_over() const noexcept { return !session_; }
    void close() noexcept;

private:
    struct pending {
        core::wakeup answered;
        std::optional<std::vector<sql::row>> answer{};
    };
    void end(loss_reason reason);

    database_server& server_;
    runtime& time_;
    const boost::asio::any_io_executor executor_;
    std::function<void(loss_reason)> on_end_;
    server_session_ptr session_;
    std::vector<std::shared_ptr<pending>> calls_;
    time_point answered_at_{};
};

}  // namespace pawl::simulation
