// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A database with Pawl's functions, in memory: what is committed, flushed and replicated, the
// sessions, and their network. The functions have the rules of `lease_table`.
#pragma once

#include "../../kernel/prng.hpp"
#include "../../kernel/simulated_process.hpp"

#include "core/store/lease_table.hpp"
#include "sql/session.hpp"

#include <pawl/service.hpp>

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::simulation {

enum class sql_bug : std::uint8_t {
    none,
#define PAWL_BUG(name) name,
#include "sql_bugs.def"
#undef PAWL_BUG
};

inline constexpr std::array sql_bug_names{
#define PAWL_BUG(name) std::pair{sql_bug::name, std::string_view(#name)},
#include "sql_bugs.def"
#undef PAWL_BUG
};

class simulated_session;

// A connection. Each side may notice its end first.
struct sql_link {
    std::string client;
    simulated_process* process = nullptr;
    bool is_open = true;                     // at the database, which carries out its requests
    bool is_listening = false;               // at the database
    instant sent_until{}, answered_until{};  // the bytes of each direction keep their order
    simulated_session* user = nullptr;       // null: its client has ended it
};

// The rows of one lock.
struct sql_lock {
    std::vector<core::holder_row<std::string>> holders;
    std::deque<core::waiter_row<std::string>> queue;
    std::map<std::string, time_point> place_ends;  // of waiters behind a proxy, by their owners
    std::uint32_t total = 0;
    std::uint64_t fence = 0;
};

// What is on a disk.
struct sql_contents {
    std::map<std::string, sql_lock> locks;
    int timeline = 1;
    // The schema begins with a ttl that is longer than usual ones, since a standby that is promoted
    // may lack the newest of them. The scenarios have no longer one.
    duration most_ttl = std::chrono::seconds(10);
    // Until then nothing is granted, after a failover. A crash does not end it.
    time_point hold_off{};
};

// A row of a holder whose lease has not ended.
struct live_hold {
    std::string owner;
    const simulated_process* process = nullptr;  // that asked for it
    lock_mode mode = lock_mode::exclusive;
    std::uint64_t token = 0;
    // It outlived a crash or a failover, which may have taken its release back.
    bool is_restored = false;
};

class sql_database {
public:
    sql_database(scheduler& loop, prng random, sql_bug bug) noexcept
        : loop_(loop), random_(random), bug_(bug) {}

    [[nodiscard]] service connect(simulated_process& process);

    // The faults.
    void set_wild(bool is_wild) noexcept { is_wild_ = is_wild; }
    // A proxy shares its sessions: no messages, no presence, and a restart ends no connection.
    void set_shared(bool is_shared) noexcept { is_shared_ = is_shared; }
    // The network keeps the program's packets back.
    void cut_off(const simulated_process& process) { cut_off_.insert(&process); }
    void reconnect(const simulated_process& process);
    // The sockets of a killed program are closed.
    void kill(const simulated_process& process);
    // False: there is no open session.
    bool end_a_session();
    void crash(instant length);
    // To a standby that lags, whose clock is behind.
    void fail_over(instant length);

    // For the rules. Whether the lock has no live hold, and might be granted.
    [[nodiscard]] bool is_free(const std::string& name);
    [[nodiscard]] std::vector<live_hold> live_holds(const std::string& name);
    [[nodiscard]] bool is_reachable(const simulated_process& process) const {
        return is_up_ && !cut_off_.contains(&process);
    }

    // For the sessions.
    [[nodiscard]] scheduler& loop() noexcept { return loop_; }
    [[nodiscard]] prng& random() noexcept { return random_; }
    [[nodiscard]] sql_bug bug() const noexcept { return bug_; }
    [[nodiscard]] bool is_up() const noexcept { return is_up_; }
    [[nodiscard]] std::shared_ptr<sql_link> open(simulated_process& process, std::string client,
                                                 sql::session_facts& facts);
    using answer_handler = std::function<void(std::vector<sql::row>)>;
    // Calls the handler in the process.
    void send(const std::shared_ptr<sql_link>& link, sql::call request, answer_handler on_answer);
    void listen(const std::shared_ptr<sql_link>& link);
    void close(const std::shared_ptr<sql_link>& link);

private:
    class rows;
    struct step;

    [[nodiscard]] time_point clock() const noexcept {
        return time_point(std::chrono::hours(24) + loop_.now() - behind_);
    }
    [[nodiscard]] std::int64_t clock_us() const noexcept {
        return clock().time_since_epoch() / std::chrono::microseconds(1);
    }
    [[nodiscard]] instant packet_delay();
    // Runs in the network's time, and not while the program is cut off.
    void deliver(const simulated_process& process, instant when, task packet);
    void end_at_database(const std::shared_ptr<sql_link>& link);
    [[nodiscard]] bool is_alive(const std::string& client) const;
    // Until a session has said hello, nobody knows whether it must pause.
    [[nodiscard]] bool is_pausing() const noexcept { return !boot_ || present_.hold_off > clock(); }
    void run_request(const std::shared_ptr<sql_link>& link, const sql::call& request,
                     const answer_handler& on_answer);
    [[nodiscard]] std::vector<sql::row> carry_out(step& done);
    [[nodiscard]] std::vector<sql::row> attempt(step& done);
    [[nodiscard]] std::vector<sql::row> renew(step& done);
    [[nodiscard]] std::vector<sql::row> inspect(step& done);
    void tell_first(step& done, const sql_lock& lock) const;
    // In ms, for waiters.
    [[nodiscard]] std::optional<std::string> time_until(time_point end) const;
    void notify(const step& done);
    void commit(bool is_flushed);
    void replicate_later();
    void restore(const sql_contents& kept);
    void go_down(instant length);

    scheduler& loop_;
    prng random_;
    const sql_bug bug_;
    bool is_wild_ = false, is_shared_ = false;
    sql_contents present_, flushed_, standby_;
    int timeline_ = 1, boots_ = 0;
    std::optional<int> boot_;  // the row of @.boot
    bool is_up_ = true, is_replicating_ = false;
    instant up_at_{};
    duration behind_{};
    std::vector<std::shared_ptr<sql_link>> links_;
    std::map<std::string, const simulated_process*> processes_;  // by the owners of claims
    std::set<std::string> restored_;                             // owners
    std::set<const simulated_process*> cut_off_;
    std::map<const simulated_process*, std::deque<task>> kept_back_;
};

}  // namespace pawl::simulation
