// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Programs that lock in a simulated database: their users, the faults, and the rules that do not
// depend on what the database stores.
#pragma once

#include "../../world/world.hpp"
#include "../sql/sql_checker.hpp"
#include "database_server.hpp"

#include <vector>

namespace pawl::simulation {

class database_world : public world {
protected:
    database_world(std::uint64_t seed, const trace::line_sink& sink);

    // Three of ten scenarios have no faults, two only ends of sessions.
    [[nodiscard]] bool is_gentle() const noexcept { return kind_ < 3; }
    [[nodiscard]] bool is_wild() const noexcept { return kind_ >= 5; }
    [[nodiscard]] virtual database_server& server() noexcept = 0;
    // Nobody has the lock at the server.
    [[nodiscard]] virtual bool is_free(const std::string& name) = 0;
    virtual void check_table(const std::string& /*name*/) {}
    [[nodiscard]] virtual std::vector<duration> ttls() const = 0;
    // Some programs beside Pawl's are stopped, or cut off.
    virtual void disturb_others() {}
    [[nodiscard]] program* program_of(const simulated_process& process) noexcept;
    // For so long nothing disturbs the server and the programs.
    [[nodiscard]] bool is_quiet_for(instant span) const {
        return loop_.now() - disturbed_at_ > span;
    }

    double clock_rate(prng& random) const override;
    void cut_off(simulated_process& process) override { server().cut_off(process); }
    void reconnect(simulated_process& process) override { server().reconnect(process); }
    void disturb() override;
    void stop_faults() override { server().set_wild(false); }
    bool recover() override;
    instant longest_wait() const override { return std::chrono::minutes(1); }
    const std::vector<std::string>& names() const override;
    lock_options choose(user& caller, attempt& made) override;
    beliefs& holds() noexcept override { return holds_; }
    void check_grant(const attempt& completed, const believed_hold& granted) override;
    void check_loss(const believed_hold& lost) override;
    void check_failure(const attempt& failed, const boost::system::error_code& ec) override;
    void observe_lock(const std::string& name, observation& seen) override;

    const std::size_t kind_;
    sql_checker holds_;

private:
    void inject_fault();
    void force();

    instant disturbed_at_{-std::chrono::hours(1)};
};

}  // namespace pawl::simulation
