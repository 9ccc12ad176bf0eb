// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The network between simulated programs and the simulated server, with all its faults.
#pragma once

#include "../kernel/prng.hpp"
#include "../kernel/simulated_process.hpp"
#include "simulated_redis.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pawl::simulation {

// A command, which its sender and the network share.
using shared_words = std::shared_ptr<const words>;
[[nodiscard]] inline shared_words share(words command) {
    return std::make_shared<const words>(std::move(command));
}

// The faults of one scenario's network. A probability is per message, a share per break.
struct network_faults {
    instant latency_low = std::chrono::microseconds(50);
    instant latency_high = std::chrono::microseconds(400);
    double slow_message = 0;  // a message takes up to `longest_delay`
    instant longest_delay{};
    double break_on_request = 0;  // the connection breaks before the command, or
    double break_on_reply = 0;    // after the command was executed
    double unnoticed_break = 0;   // share of breaks that the program does not notice
    double late_delivery = 0;     // share of breaks after which sent commands are executed later
    instant longest_late_delay{};
    bool reply_before_own_push = false;  // as in newer servers
    bool pushes_overtake = false;        // a push may be read after the replies that followed it
    injected_bug bug = injected_bug::none;
    script_limits bounds_of_scripts{};
};

class simulated_network {
public:
    // The program's end of a connection. Its functions are called in the program, in order.
    class endpoint {
    public:
        virtual ~endpoint() = default;
        virtual simulated_process& process() = 0;
        virtual void run_on_strand(task work) = 0;
        virtual void on_reply(std::uint64_t connection_id, redis::reply reply) = 0;
        virtual void on_push(std::uint64_t connection_id, words message) = 0;
        virtual void on_closed(std::uint64_t connection_id) = 0;
    };
    // Sees every command right after its execution by the server.
    class observer {
    public:
        virtual ~observer() = default;
        virtual void on_executed(simulated_network& server, simulated_process& process,
                                 const words& command, const redis::reply& reply) = 0;
        // A program sends a command. Later the reply reaches it, or `reply` is null: it does not
        // wait any more.
        virtual void on_sent(simulated_process& /*process*/, const words& /*command*/) {}
        virtual void on_answered(const words& /*command*/, const redis::reply* /*reply*/) {}
        // The data changed without a command of a program.
        virtual void on_data_changed(simulated_network& /*server*/) {}
    };

    // `server_name` as in simulated_redis. Each server has a network and a clock of its own.
    simulated_network(scheduler& loop, prng random, network_faults faults,
                      std::string server_name = {});
    void set_observer(observer* new_observer) noexcept { observer_ = new_observer; }
    [[nodiscard]] observer* current_observer() const noexcept { return observer_; }

    // Returns the id of the connection, whose events go to `receiver`.
    std::uint64_t connect(const std::weak_ptr<endpoint>& receiver);
    void send(std::uint64_t connection_id, shared_words command);
    // The program closes the connection and receives no more events.
    void close(std::uint64_t connection_id);

    // Faults of the server.
    void freeze() { is_frozen_ = true; }
    void thaw();
    void stop_server();
    void start_server(simulated_redis::snapshot with);
    void refuse(const std::string& error, bool at_once) { redis_.refuse(error, at_once); }
    void jump_clock(std::int64_t us) { clock_offset_us_ += us; }
    // From the beginning of the scenario, the server's clock runs this much faster.
    void run_clock_at(double rate) { clock_rate_ = rate; }
    [[nodiscard]] bool is_up() const noexcept { return is_up_; }
    [[nodiscard]] bool is_frozen() const noexcept { return is_frozen_; }

    // Faults of the network. The messages of a cut-off program are kept, as in TCP. One way: only
    // the requests, or only the replies.
    void cut_off(simulated_process& process) {
        cut_off_requests(process);
        cut_off_replies(process);
    }
    void cut_off_requests(simulated_process& process) { without_requests_.insert(&process); }
    void cut_off_replies(simulated_process& process) { without_replies_.insert(&process); }
    void reconnect(simulated_process& process);
    void break_all(simulated_process& process);
    // CLIENT KILL of all clients.
    void break_clients();
    // The process is dead: only the messages that it has already sent arrive.
    void ban(simulated_process& process);
    // From now on each message takes this time.
    void set_latency(instant one_way) { faults_.latency_low = faults_.latency_high = one_way; }
    // Ends the random faults and delivers all kept messages.
    void stop_faults();

    // Changes the server's data as an operator or an eviction does. Clients that cached a changed
    // key are notified.
    void change_data(const std::function<void(simulated_redis&)>& change);
    // How many replicas have the writes of this server up to that number. Needed for WAIT.
    void set_replicas(std::function<std::int64_t(std::uint64_t writes)> count) {
        count_replicas_ = std::move(count);
    }
    // The number of the commands that may have written, for `set_replicas`.
    [[nodiscard]] std::uint64_t writes() const noexcept { return writes_; }
    // From now on the server has an append-only file, with an fsync after random times of up to
    // `longest_pause`. Needed for WAITAOF.
    void keep_append_file(instant longest_pause);
    // What the file had after the last fsync.
    [[nodiscard]] const simulated_redis::snapshot& synced_data() const noexcept {
        return synced_data_;
    }

    // For inspection.
    simulated_redis& server();
    [[nodiscard]] std::int64_t wall_us() const noexcept;

private:
    struct connection_state;
    struct pending_command {
        std::shared_ptr<connection_state> connection;
        shared_words command;
    };
    using connection_ptr = std::shared_ptr<connection_state>;

    instant latency();
    connection_ptr find_connection(std::uint64_t id) const;
    void arrive(const connection_ptr& connection, shared_words command, bool delayed);
    void deliver_late(std::uint64_t number);
    void start_next();
    void execute_next();
    void execute(const pending_command& pending);
    void answer(const connection_ptr& connection, redis::reply reply);
    // WAIT for replicas, or WAITAOF for the server's own file.
    struct copies_wait {
        bool is_on_disk = false;
        std::int64_t wanted = 0;
        instant until{};
    };
    [[nodiscard]] std::optional<copies_wait> find_wait(const words& command) const;
    void answer_wait(const connection_ptr& connection, const copies_wait& wait);
    void plan_sync();
    void deliver_push(simulated_redis::connection to, words message);
    void send_to_client(const connection_ptr& connection, task deliver, bool is_push);
    void break_connection(const connection_ptr& connection, bool notifies);
    void forget_connection(const connection_ptr& connection);
    void plan_expiry();

    scheduler& loop_;
    prng random_;
    network_faults faults_;
    observer* observer_ = nullptr;
    simulated_redis redis_;
    std::vector<std::pair<simulated_redis::connection, words>> pending_pushes_;
    std::map<std::uint64_t, connection_ptr> connections_;
    std::uint64_t last_connection_id_ = 0;
    std::deque<pending_command> queue_;
    std::map<std::uint64_t, pending_command> late_commands_;  // of broken connections
    std::uint64_t last_late_id_ = 0;
    std::function<std::int64_t(std::uint64_t)> count_replicas_;
    std::uint64_t writes_ = 0;
    instant longest_sync_pause_{};  // zero: there is no append-only file
    simulated_redis::snapshot synced_data_{};
    std::uint64_t synced_writes_ = 0;  // of them, those that the file has
    bool faults_stopped_ = false;
    bool is_executing_ = false;
    bool is_frozen_ = false;
    bool is_up_ = true;
    int server_run_ = 0;
    std::int64_t clock_offset_us_ = 0;
    double clock_rate_ = 1;
    instant expiry_planned_ = instant::max();
    std::set<simulated_process*> without_requests_, without_replies_;  // cut off
    std::set<simulated_process*> banned_processes_;
};

}  // namespace pawl::simulation
