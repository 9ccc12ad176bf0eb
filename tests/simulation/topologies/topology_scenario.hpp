// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Programs with locks on servers that replace each other. The users, the holds that they believe
// in, and the rules; the servers and their faults are in the derived classes.
#pragma once

#include "../kernel/trace.hpp"
#include "../kernel/virtual_runtime.hpp"
#include "../workload/scenario.hpp"
#include "hold_checker.hpp"
#include "topology_plan.hpp"

#include <pawl/client.hpp>
#include <pawl/held_locks.hpp>
#include <pawl/service.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace pawl::simulation {

class topology_scenario {
public:
    virtual ~topology_scenario();
    topology_scenario(const topology_scenario&) = delete;
    topology_scenario& operator=(const topology_scenario&) = delete;

    scenario_result run(scenario_kind kind);

protected:
    topology_scenario(const topology_plan& scenario_plan, bool tells_of_switches,
                      const trace::line_sink& sink);

    // The servers.
    [[nodiscard]] virtual service connect(simulated_process& process) = 0;
    // The server that has the lock; null: none serves it, or they do not agree.
    [[nodiscard]] virtual simulated_network* server_of(const std::string& name) = 0;
    // The replicas of that server that have the lock with this token.
    [[nodiscard]] virtual std::size_t copies_of(const std::string& name, std::uint64_t token) = 0;
    // Nothing has changed for the lock since then, nor for a while before: neither its server nor,
    // in a cluster, its slot.
    [[nodiscard]] virtual bool is_settled(const std::string& name, instant since) = 0;
    // When every program that is connected could know that another server has the lock than the one
    // that issued tokens of this epoch; nothing: not yet.
    [[nodiscard]] virtual std::optional<instant> replaced_at(std::uint64_t /*epoch*/) {
        return std::nullopt;
    }
    // The epoch of the server that has the lock.
    [[nodiscard]] virtual std::uint64_t epoch_of(const std::string& name) = 0;
    // One random fault of the servers, until it is over or will end by itself.
    virtual void disturb() = 0;
    // The program is cut off from some of the servers; `stop_faults` ends it at the latest.
    virtual void cut_off(simulated_process& process) = 0;
    virtual void reconnect(simulated_process& process) = 0;
    virtual void stop_faults() = 0;
    // All servers have their roles, and agree on them.
    [[nodiscard]] virtual bool is_agreed() = 0;
    // What an operator does after that.
    virtual void repair() {}
    [[nodiscard]] hold_checker& holds() noexcept { return holds_; }

    // SIGSTOP and SIGCONT, unless the program is stopped, or goes on, already.
    void stop(std::size_t number);
    void resume(std::size_t number) { resume(*programs_.at(number)); }
    // One of the program's idle users acquires the lock; nothing happens if all are busy.
    void request(std::size_t number, const std::string& name);

    // Call this when all members of the derived class exist.
    void start();

    [[nodiscard]] instant random_time(instant low, instant high) {
        return instant(random_.between(low.count(), high.count()));
    }
    [[nodiscard]] std::string random_name() { return names()[random_.below(names().size())]; }
    [[nodiscard]] static const std::vector<std::string>& names();
    [[nodiscard]] bool has_lock_with(const simulated_redis::snapshot& data, const std::string& name,
                                     std::uint64_t token) const;

    scheduler loop_;
    const topology_plan plan_;
    trace trace_;
    prng random_;
    const redis::options options_;

private:
    using loss_callback = std::stop_callback<std::function<void()>>;
    struct user {
        explicit user(prng random) : choices(random) {}
        prng choices;
        std::optional<held_lock> lock;
        std::optional<held_locks> locks;
        std::vector<believed_hold*> beliefs;
        std::vector<std::unique_ptr<loss_callback>> losses;
        bool is_busy = false;  // acquires, or holds
    };
    struct program {
        program(topology_scenario& parent, std::string label, prng random);
        const std::string label;
        simulated_process process;
        virtual_runtime time;
        std::optional<client> locks;
        std::vector<std::unique_ptr<user>> users;
        instant paused_at{};
    };
    // An acquire that has not completed.
    struct attempt {
        std::vector<std::string> names;
        instant requested_at{};
        bool may_time_out = false;
        bool must_succeed = false;
        diagnostics messages{};
    };
    // How long something lasts that should not.
    struct observation {
        std::optional<instant> nobody_has_it, nobody_gets_it;
        std::string token;
    };

    void use_locks(program& by, user& caller);
    void acquire(program& by, user& caller, std::vector<std::string> wanted);
    void complete(program& by, user& caller, const attempt& completed,
                  const boost::system::error_code& ec);
    void note_grant(program& by, user& caller, const attempt& completed, const held_lock& lock);
    // Of what is stored beside a lock. Without scripts, an attempt that has failed may have taken a
    // later number.
    [[nodiscard]] bool is_token_of(const std::string& stored, std::uint64_t token) const;
    void check_durability(const attempt& completed, const believed_hold& hold);
    void release(program& by, user& caller);
    void check_failure(const attempt& failed, const boost::system::error_code& ec);
    void pause_a_program();
    bool stop(program& affected);
    void resume(program& stopped);
    [[nodiscard]] bool is_of_present_master(const believed_hold& hold);
    void cut_off_a_program();
    void observe();
    void observe_lock(const std::string& name);
    [[nodiscard]] bool is_wanted(const std::string& name) const;
    // The faults end, the servers agree, and each user gets each lock in turn.
    void finish();
    // Runs until the condition is met, or for 30 s, or until a rule is broken.
    template <class Condition>
    [[nodiscard]] bool happens_soon(Condition is_met);
    template <class Condition>
    void wait_until(const char* failure, Condition is_met);
    void fail(const std::string& sentence);
    // When a master is replaced, each client hears of it.
    const bool tells_of_switches_;

    hold_checker holds_;
    std::vector<std::unique_ptr<program>> programs_;
    std::vector<std::unique_ptr<attempt>> attempts_;
    std::map<std::string, observation> observations_;
    bool is_finishing_ = false;
    bool is_calm_ = false;  // the faults and their effects are over
    bool is_over_ = false;
};

}  // namespace pawl::simulation
