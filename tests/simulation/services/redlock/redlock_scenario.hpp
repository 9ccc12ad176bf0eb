// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Locks over independent nodes, and their operators.
#pragma once

#include "../../world/world.hpp"
#include "redlock_checker.hpp"
#include "redlock_nodes.hpp"
#include "redlock_operator.hpp"
#include "redlock_plan.hpp"

#include <memory>
#include <string>
#include <vector>

namespace pawl::simulation {

class redlock_scenario final : public world {
public:
    redlock_scenario(const redlock_plan& scenario_plan, const trace::line_sink& sink);

private:
    // One try of a contest.
    struct contender {
        program* by = nullptr;
        user* caller = nullptr;
        attempt tried{};
        bool has_ended = false;
        boost::system::error_code failure{};
    };

    // The servers.
    [[nodiscard]] service connect(simulated_process& process) override;
    void cut_off(simulated_process& process) override { nodes_.cut_off(process); }
    void reconnect(simulated_process& process) override { nodes_.reconnect(process); }
    void stop_faults() override { nodes_.stop_faults(); }
    // Within which the nodes vote again after the last fault.
    [[nodiscard]] instant longest_recovery() const;
    [[nodiscard]] instant longest_wait() const override {
        return longest_recovery() + std::chrono::seconds(1);
    }
    [[nodiscard]] bool recover() override;
    void restore_set();

    // The users.
    [[nodiscard]] const std::vector<std::string>& names() const override;
    [[nodiscard]] double clock_rate(prng& random) const override;
    [[nodiscard]] lock_options choose(user& caller, attempt& made) override;
    void begin() override;
    void close() override;
    [[nodiscard]] bool awaits_release(const believed_hold&) const override {
        return plan_.judges_releases || plan_.awaits_releases;
    }

    // Contests.
    void hold_contests();
    void hold_contest(const std::string& name);
    void try_once(const std::shared_ptr<contender>& each);
    void end_try(contender& ended, const boost::system::error_code& ec, held_lock lock);
    void judge_contest(const std::vector<std::shared_ptr<contender>>& contenders);

    // The faults.
    void disturb() override;
    void replace_a_server();
    void ask_with_other_names();
    void kill_a_program();
    void force_a_release();
    void force_a_release_by_token(program& by, const std::string& name);
    void force(program& by, const std::string& name, fencing_token expected);
    void begin_set_anew();

    // The rules.
    [[nodiscard]] redlock_checker& holds() noexcept override { return holds_; }
    void note(believed_hold& granted) override;
    void check_downgrade(program& by, const believed_hold& hold,
                         const boost::system::error_code& ec) override;
    void check_loss(const believed_hold& lost) override;
    void check_release(program& by, const held_lock& lock, const believed_hold& hold,
                       instant asked_at, release_result result) override;
    void check_failure(const attempt& failed, const boost::system::error_code& ec) override;
    void observe_holds() override;
    void observe_lock(const std::string& name, observation& seen) override;

    const redlock_plan plan_;
    redlock_checker holds_;
    redlock_nodes nodes_;
    redlock_operator operator_;
    std::unique_ptr<program> client_with_other_names_;
    int contests_without_winner_ = 0;
    bool has_begun_ = false;
};

}  // namespace pawl::simulation
