// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Programs with locks over independent nodes, and operators. The users, the holds that they believe
// in, and what must happen in time.
#pragma once

#include "../kernel/trace.hpp"
#include "../kernel/virtual_runtime.hpp"
#include "../workload/scenario.hpp"
#include "redlock_checker.hpp"
#include "redlock_nodes.hpp"
#include "redlock_operator.hpp"
#include "redlock_plan.hpp"

#include <pawl/client.hpp>
#include <pawl/held_locks.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace pawl::simulation {

class redlock_scenario {
public:
    redlock_scenario(const redlock_plan& scenario_plan, const trace::line_sink& sink);
    ~redlock_scenario();
    redlock_scenario(const redlock_scenario&) = delete;
    redlock_scenario& operator=(const redlock_scenario&) = delete;

    scenario_result run();

private:
    using loss_callback = std::stop_callback<std::function<void()>>;
    struct user {
        explicit user(prng random) : choices(random) {}
        prng choices;
        std::optional<held_lock> lock;
        std::optional<held_locks> locks;
        std::vector<quorum_hold*> beliefs;
        std::vector<std::unique_ptr<loss_callback>> losses;
        bool is_busy = false;  // acquires, or holds
    };
    struct program {
        program(redlock_scenario& parent, std::string label, prng random, const node_choices& nodes,
                const redlock::options& options);
        const std::string label;
        simulated_process process;
        virtual_runtime time;
        std::optional<client> locks;
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
        instant requested_at{};
        bool may_time_out = false;
        diagnostics messages{};
    };
    // One try of a contest.
    struct contender {
        program* by = nullptr;
        user* caller = nullptr;
        attempt tried{};
        bool has_ended = false;
        boost::system::error_code failure{};
    };
    // How long something lasts that should not.
    struct observation {
        std::optional<instant> nobody_has_it, nobody_gets_it;
    };

    void begin();
    void use_locks(program& by, user& caller);
    void acquire(program& by, user& caller, std::vector<std::string> wanted);
    void complete(program& by, user& caller, const attempt& completed,
                  const boost::system::error_code& ec);
    void note_grant(program& by, user& caller, const attempt& completed, const held_lock& lock);
    void end_hold_later(program& by, user& caller, instant longest);
    void downgrade(program& by, user& caller);
    void release(program& by, user& caller);
    void release_and_wait(program& by, user& caller);
    void judge_release(program& by, const held_lock& lock, const quorum_hold& hold,
                       instant asked_at, release_result result);
    void hold_contests();
    void hold_contest(const std::string& name);
    void try_once(const std::shared_ptr<contender>& each);
    void end_try(contender& ended, const boost::system::error_code& ec, held_lock lock);
    void judge_contest(const std::vector<std::shared_ptr<contender>>& contenders);
    void ask_with_other_names();
    void check_failure(const attempt& failed, const boost::system::error_code& ec);
    void disturb();
    void replace_a_server();
    void pause_a_program();
    void resume(program& stopped);
    void cut_off_a_program();
    void kill_a_program();
    void force_a_release();
    void force_a_release_by_token(program& by, const std::string& name);
    void force(program& by, const std::string& name, fencing_token expected);
    void begin_set_anew();
    void observe();
    void observe_holds();
    void observe_lock(const std::string& name);
    void finish();
    void restore_set();
    void acquire_each();
    void close_all();
    void retire(user& caller);
    [[nodiscard]] bool is_idle() const;
    // Within which the nodes vote again after the last fault.
    [[nodiscard]] instant longest_recovery() const;
    void wait_until(const char* failure, instant most, const std::function<bool()>& is_met);
    void fail(const std::string& sentence);
    [[nodiscard]] instant random_time(instant low, instant high) {
        return instant(random_.between(low.count(), high.count()));
    }
    [[nodiscard]] const std::string& random_name() {
        return redlock_server::names()[random_.below(redlock_server::names().size())];
    }

    scheduler loop_;
    const redlock_plan plan_;
    trace trace_;
    prng random_;
    redlock_checker holds_;
    redlock_nodes nodes_;
    redlock_operator operator_;
    std::vector<std::unique_ptr<program>> programs_;
    std::unique_ptr<program> client_with_other_names_;
    std::vector<std::unique_ptr<attempt>> attempts_;
    std::map<std::string, observation> observations_;
    int contests_without_winner_ = 0;
    bool has_begun_ = false;
    bool is_finishing_ = false;
    bool is_calm_ = false;  // the faults and their effects are over
    bool is_over_ = false;
};

[[nodiscard]] scenario_result run_redlock_scenario(std::uint64_t seed,
                                                   redlock_bug bug = redlock_bug::none,
                                                   const trace::line_sink& sink = {},
                                                   const redlock_faults& wanted = {});

}  // namespace pawl::simulation
