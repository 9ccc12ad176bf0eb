// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Programs whose users acquire, hold and release locks at random, what they believe to hold, and
// what is observed meanwhile. A service derives its servers, their faults and its rules.
#pragma once

#include "../kernel/trace.hpp"
#include "beliefs.hpp"
#include "scenario_result.hpp"
#include "simulated_program.hpp"

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

struct world_settings {
    std::uint64_t seed = 0;
    std::size_t program_count = 3;
    std::size_t users_per_program = 1;
    bool has_sets = false;  // some users acquire two locks at once
    double downgrades = 0;  // share of the writers that become readers
    instant longest_idle = std::chrono::milliseconds(500);  // of a user between two requests
    instant longest_hold{};
    instant longest_rare_hold{};  // of one in five holds, if there are such
    // From one fault to the next, and after the last one.
    instant shortest_round = std::chrono::milliseconds(500);
    instant longest_round = std::chrono::seconds(8), last_round = std::chrono::seconds(5);
    instant observation_pause = std::chrono::milliseconds(100);
    // At the end: no user begins a request while the service recovers.
    bool rests_during_recovery = true;
    // Of all requests and holds, with pauses between looks.
    instant longest_end = std::chrono::minutes(2), end_pause = std::chrono::milliseconds(50);
};

class world {
public:
    virtual ~world();
    world(const world&) = delete;
    world& operator=(const world&) = delete;

    scenario_result run(scenario_kind kind);

protected:
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
    struct program : simulated_program {
        program(world& parent, std::string name, prng random)
            : simulated_program(parent.loop_, std::move(name), parent.clock_start(),
                                parent.clock_rate(random), random) {}
        std::vector<std::unique_ptr<user>> users;
        instant paused_at{};
        std::uint64_t late_releases = 0;  // that its users were told of
        bool is_dead = false;
    };
    // An acquire that has not completed.
    struct attempt {
        program* by = nullptr;
        std::vector<std::string> names;
        lock_mode mode = lock_mode::exclusive;
        std::uint32_t permits = 0;
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

    world(const world_settings& settings, const trace::line_sink& sink);

    // The servers.
    [[nodiscard]] virtual service connect(simulated_process& process) = 0;
    virtual void disturb() = 0;
    // The program is cut off from some of the servers; `stop_faults` ends it at the latest.
    virtual void cut_off(simulated_process& process) = 0;
    virtual void reconnect(simulated_process& process) = 0;
    virtual void stop_faults() = 0;
    // After the faults: the servers serve again. False: that cannot be expected.
    [[nodiscard]] virtual bool recover() = 0;
    // Of a user for its lock after that, and for its release.
    [[nodiscard]] virtual instant longest_wait() const = 0;

    // The users.
    // By default "alone", "room" for readers, and "pool", a semaphore.
    [[nodiscard]] virtual const std::vector<std::string>& names() const;
    [[nodiscard]] virtual time_point clock_start() const {
        return time_point(std::chrono::hours(1));
    }
    [[nodiscard]] virtual double clock_rate(prng& /*random*/) const { return 1.0; }
    // Also sets what may become of the attempt.
    [[nodiscard]] virtual lock_options choose(user& caller, attempt& made) = 0;
    // Whether the result of the release matters to `check_release`.
    [[nodiscard]] virtual bool awaits_release(const believed_hold& /*hold*/) const { return false; }

    // The rules.
    [[nodiscard]] virtual beliefs& holds() noexcept = 0;
    // Completes the hold, and describes it in the trace.
    virtual void note(believed_hold& granted);
    virtual void check_grant(const attempt& /*completed*/, const believed_hold& /*granted*/) {}
    // The downgrade of a hold has ended; the release may have come before.
    virtual void check_downgrade(program& /*by*/, const believed_hold& /*hold*/,
                                 const boost::system::error_code& /*ec*/) {}
    virtual void check_loss(const believed_hold& lost) = 0;
    virtual void check_release(program& /*by*/, const held_lock& /*lock*/,
                               const believed_hold& /*hold*/, instant /*asked_at*/,
                               release_result /*result*/) {}
    virtual void check_failure(const attempt& failed, const boost::system::error_code& ec) = 0;
    // For the trace, which does not differ between two runs of a seed.
    [[nodiscard]] virtual std::string message_of(const attempt& failed) const {
        return std::string(failed.messages.message());
    }
    virtual void observe_holds() {}
    virtual void observe_lock(const std::string& name, observation& seen) = 0;

    // Call this when all members of the derived class exist.
    void start();
    // The scenario begins: the users begin, and what is observed.
    virtual void begin();
    virtual void close();

    program& add_program();
    void begin_program();
    // On the default names. `reads`: the share of readers.
    static void choose_mode(user& caller, const attempt& made, double reads, lock_options& options);
    void acquire(program& by, user& caller, std::vector<std::string> wanted);
    void note_grant(program& by, user& caller, const attempt& completed, const held_lock& lock);
    static void retire(user& caller);
    // SIGSTOP and SIGCONT, unless the program is stopped, or goes on, already.
    bool stop(program& affected);
    void resume(program& stopped);
    // SIGKILL, unless the program is stopped or dead. Its users believe nothing any more.
    bool kill(program& affected);
    void stop_a_program(instant shortest, instant longest);
    void cut_off_a_program(instant shortest, instant longest);

    // Whether an attempt is for the name: alone, or perhaps with another name.
    [[nodiscard]] bool is_requested(const std::string& name) const;
    [[nodiscard]] bool is_idle() const;
    // Notes since when it is true. Returns whether it has been for too long.
    [[nodiscard]] bool lasts(std::optional<instant>& from, bool is_true, instant most) const;
    // Runs until the condition is met, or for so long, or until a rule is broken.
    [[nodiscard]] bool happens_soon(instant most, const std::function<bool()>& is_met);
    void wait_until(const char* failure, instant most, const std::function<bool()>& is_met);
    void fail(const std::string& sentence);
    [[nodiscard]] bool has_failed() { return !holds().violation().empty(); }

    [[nodiscard]] const std::string& random_name() {
        return names()[random_.below(names().size())];
    }

    scheduler loop_;
    const world_settings settings_;
    trace trace_;
    prng random_;
    std::vector<std::unique_ptr<program>> programs_;
    std::vector<std::unique_ptr<attempt>> attempts_;
    bool is_finishing_ = false;
    bool is_calm_ = false;  // the faults and their effects are over
    bool is_over_ = false;

private:
    void use_locks(program& by, user& caller);
    void complete(program& by, user& caller, const attempt& completed,
                  const boost::system::error_code& ec);
    // The user has the locks: plans their end.
    void begin_hold(program& by, user& caller, const attempt& completed);
    void downgrade(program& by, user& caller);
    void release(program& by, user& caller);
    void await_release(program& by, user& caller);
    void observe();
    // The faults end, the service recovers, and each program gets each lock in turn.
    void finish();

    std::map<std::string, observation> observations_;
};

}  // namespace pawl::simulation
