// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Programs that lock in a database without Pawl's functions: their users, and the faults.
#pragma once

#include "../sql/sql_world.hpp"
#include "database_server.hpp"

#include <vector>

namespace pawl::simulation {

class database_world : public sql_world {
protected:
    database_world(std::uint64_t seed, const trace::line_sink& sink);

    [[nodiscard]] virtual database_server& server() noexcept = 0;
    [[nodiscard]] virtual const database_server& server() const noexcept = 0;
    [[nodiscard]] virtual std::vector<duration> ttls() const = 0;
    // Some programs beside Pawl's are stopped, or cut off.
    virtual void disturb_others() {}

    double clock_rate(prng& random) const override;
    void cut_off(simulated_process& process) override { server().cut_off(process); }
    void reconnect(simulated_process& process) override { server().reconnect(process); }
    void inject_fault() override;
    bool is_reachable(const simulated_process& process) const override {
        return server().is_reachable(process);
    }
    void stop_faults() override { server().set_wild(false); }
    bool recover() override;
    const std::vector<std::string>& names() const override;
    lock_options choose(user& caller, attempt& made) override;
    void check_grant(const attempt& completed, const believed_hold& granted) override;
};

}  // namespace pawl::simulation
