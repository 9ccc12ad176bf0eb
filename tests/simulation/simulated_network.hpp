// The way between simulated programs and the simulated server, and all that can go wrong on it.
#pragma once

#include "prng.hpp"
#include "process.hpp"
#include "simulated_redis.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace pawl::simulation {

// What one world's network does of itself. All chances are per message.
struct network_faults {
    instant latency_low = std::chrono::microseconds(50);
    instant latency_high = std::chrono::microseconds(400);
    double slow = 0;  // a message takes up to `slow_for`
    instant slow_for{};
    double break_on_request = 0;  // the connection breaks before it, or
    double break_on_reply = 0;    // after it was carried out
    double unnoticed = 0;         // of breaks: the program is not told
    double zombie = 0;            // of breaks: what was under way is carried out later
    instant zombie_for{};
    bool reply_before_own_push = false;  // as newer servers do
    bool pushes_overtake = false;        // a push is seen after replies that followed it, or before
    planted bug = planted::none;
};

class simulated_network {
public:
    // A program's end of a connection. Called in the program, in order.
    class endpoint {
    public:
        virtual ~endpoint() = default;
        virtual process& home() = 0;
        virtual void run_on_strand(task what) = 0;
        virtual void on_reply(std::uint64_t wire, redis::reply answer) = 0;
        virtual void on_push(std::uint64_t wire, words message) = 0;
        virtual void on_closed(std::uint64_t wire) = 0;
    };
    // Sees every command right after it was carried out, at the server.
    class witness {
    public:
        virtual ~witness() = default;
        virtual void executed(process& by, const words& command, const redis::reply& answer) = 0;
        // The data changed by no command of a program.
        virtual void data_changed() {}
    };

    simulated_network(scheduler& world, prng chance, network_faults faults);
    void set_witness(witness* who) noexcept { witness_ = who; }

    // Returns the connection's number; its fate is told to `who`.
    std::uint64_t connect(const std::weak_ptr<endpoint>& who);
    void send(std::uint64_t wire, words command);
    // The program gives up the connection; it is told nothing more.
    void close(std::uint64_t wire);

    // The server's troubles.
    void freeze() { frozen_ = true; }
    void thaw();
    void go_down();
    void come_up(simulated_redis::snapshot with);
    void refuse(const std::string& error, bool at_once) { redis_.refuse(error, at_once); }
    void jump_clock(std::int64_t us) { jumped_us_ += us; }
    [[nodiscard]] bool up() const noexcept { return up_; }

    // The network's. A cut-off program's messages wait, as TCP's do.
    void cut_off(process& who) { cut_off_.insert(&who); }
    void reconnect(process& who);
    void break_all(process& who);
    // It is dead: nothing of it arrives any more but what was under way.
    void ban(process& who);
    // No more troubles of its own; what it has kept is delivered.
    void calm();

    // An operator's or an eviction's work at the server, with its clock set; who cached something
    // is told.
    void disturb(const std::function<void(simulated_redis&)>& what);
    // To look at it.
    simulated_redis& server();
    [[nodiscard]] std::int64_t wall_us() const noexcept;

private:
    struct wire;
    struct job {
        std::shared_ptr<wire> on;
        words command;
    };
    using wire_ptr = std::shared_ptr<wire>;

    instant latency();
    wire_ptr find(std::uint64_t id) const;
    void arrive(const wire_ptr& on, words command, bool delayed);
    void deliver_late(std::uint64_t number);
    void pump();
    void execute_next();
    void carry_out(const job& what);
    void deliver_push(simulated_redis::connection to, words what);
    void answer(const wire_ptr& on, task deliver, bool is_push);
    void break_off(const wire_ptr& on, bool tell);
    void forget(const wire_ptr& on);
    void plan_expiry();

    scheduler& world_;
    prng chance_;
    network_faults faults_;
    witness* witness_ = nullptr;
    simulated_redis redis_;
    std::vector<std::pair<simulated_redis::connection, words>> pushed_;
    std::map<std::uint64_t, wire_ptr> wires_;
    std::uint64_t made_ = 0;
    std::deque<job> queue_;
    std::map<std::uint64_t, job> late_;  // of connections that are over
    std::uint64_t late_ever_ = 0;
    bool calm_ = false;
    bool pumping_ = false;
    bool frozen_ = false;
    bool up_ = true;
    int run_ = 0;
    std::int64_t jumped_us_ = 0;
    instant expiry_planned_ = instant::max();
    std::set<process*> cut_off_;
    std::set<process*> banned_;
};

}  // namespace pawl::simulation
