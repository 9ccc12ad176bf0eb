// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Programs that lock in a database, whatever it stores: how often they are disturbed, and the rules
// that do not depend on its tables.
#pragma once

#include "../../world/world.hpp"
#include "sql_checker.hpp"

#include <string>

namespace pawl::simulation {

class sql_world : public world {
protected:
    // Of a hold that nobody knows, in a program that reaches the undisturbed database: an answer is
    // waited for during 5 s.
    static constexpr instant longest_undo = std::chrono::seconds(8);

    sql_world(const world_settings& settings, const trace::line_sink& sink);

    // Three of ten scenarios have no faults, two only ends of sessions.
    [[nodiscard]] bool is_gentle() const noexcept { return kind_ < 3; }
    [[nodiscard]] bool is_wild() const noexcept { return kind_ >= 5; }
    [[nodiscard]] virtual bool is_reachable(const simulated_process& process) const = 0;
    // Nobody has the lock at the server.
    [[nodiscard]] virtual bool is_free(const std::string& name) = 0;
    virtual void check_rows(const std::string& name) = 0;
    virtual void inject_fault() = 0;
    // An operator's program takes a lock from its holders.
    void force();
    // Null: of none that locks with Pawl.
    [[nodiscard]] program* program_of(const simulated_process* process) const noexcept;
    // The program lives, and reaches the database.
    [[nodiscard]] bool can_ask(const program& by) const {
        return !by.is_dead && !by.process.is_paused() && is_reachable(by.process);
    }
    // For so long nothing disturbs the server and the programs.
    [[nodiscard]] bool is_quiet_for(instant span) const {
        return loop_.now() - disturbed_at_ > span;
    }

    void disturb() override;
    instant longest_wait() const override { return std::chrono::minutes(1); }
    beliefs& holds() noexcept override { return holds_; }
    void check_loss(const believed_hold& lost) override;
    void check_failure(const attempt& failed, const boost::system::error_code& ec) override;
    void observe_lock(const std::string& name, observation& seen) override;

    const std::size_t kind_;
    sql_checker holds_;

private:
    instant disturbed_at_{-std::chrono::hours(1)};
};

}  // namespace pawl::simulation
