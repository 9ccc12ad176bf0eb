// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One scenario of the backend over stored functions: programs that lock in one database, and faults
// of the database, its sessions and the programs.
#include "../../kernel/process_resources.hpp"
#include "../scenarios.hpp"
#include "sql_world.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

constexpr duration longest_ttl = 10s;

class sql_scenario final : public sql_world {
public:
    sql_scenario(std::uint64_t seed, sql_bug bug, const trace::line_sink& sink)
        : sql_world({.seed = seed,
                     .users_per_program = 2,
                     .downgrades = 0.15,
                     .longest_hold = 1s,
                     .longest_rare_hold = 8s},
                    sink),
          database_(loop_, random_.fork(), bug) {
        database_.set_wild(is_wild());
        database_.set_shared(is_shared());
        start();
    }
    // The sessions use the database until they end.
    ~sql_scenario() override { programs_.clear(); }

private:
    // The database. In two of ten scenarios a proxy shares its sessions.
    [[nodiscard]] bool is_shared() const noexcept { return kind_ >= 8; }
    service connect(simulated_process& process) override { return database_.connect(process); }
    void cut_off(simulated_process& process) override { database_.cut_off(process); }
    void reconnect(simulated_process& process) override { database_.reconnect(process); }
    void inject_fault() override;
    bool is_reachable(const simulated_process& process) const override {
        return database_.is_reachable(process);
    }
    bool is_free(const std::string& name) override { return database_.is_free(name); }
    void stop_faults() override { database_.set_wild(false); }
    bool recover() override {
        loop_.run_for(2 * longest_ttl);
        return true;
    }

    // The users.
    lock_options choose(user& caller, attempt& made) override;

    // The rules.
    void check_grant(const attempt&, const believed_hold& granted) override {
        holds_.check_token(granted);
    }
    // The rules for the rows.
    void check_rows(const std::string& name) override;
    [[nodiscard]] bool is_abandoned(const std::string& name, const live_hold& row) const;

    sql_database database_;
    // Since when, by the name of the lock and the owner.
    std::map<std::string, std::map<std::string, std::optional<instant>>> abandoned_;
};

lock_options sql_scenario::choose(user& caller, attempt& made) {
    auto& choices = caller.choices;
    const std::array<duration, 4> ttls{700ms, 2s, 5s, longest_ttl};
    lock_options options{.ttl = ttls[choices.below(ttls.size())], .wait = 20s};
    choose_mode(caller, made, 0.6, options);
    if (choices.happens(0.25)) options.wait = 1ms * choices.between(0, 1500);
    if (is_calm_) options.wait = longest_wait() - 5s;
    made.may_time_out = !is_calm_;
    return options;
}

void sql_scenario::check_rows(const std::string& name) {
    const auto live = database_.live_holds(name);
    if (live.size() > 1 && std::ranges::count(live, lock_mode::exclusive, &live_hold::mode) > 0)
        fail("the table has an exclusive hold of " + name + " beside another");
    auto& abandoned = abandoned_[name];
    std::erase_if(abandoned, [&](const auto& each) {
        return std::ranges::count(live, each.first, &live_hold::owner) == 0;
    });
    for (const auto& each : live)
        if (lasts(abandoned[each.owner], is_abandoned(name, each), longest_undo) &&
            is_quiet_for(longest_undo))
            fail("nobody knows a hold of " + name + ", and nobody undoes it");
}

// Of an attempt that was given up, or of a user that released it.
bool sql_scenario::is_abandoned(const std::string& name, const live_hold& row) const {
    const auto* const by = program_of(row.process);
    if (row.is_restored || by == nullptr || !can_ask(*by)) return false;
    return std::ranges::none_of(holds_.all(), [&](const auto& each) {
        return each->name == name && each->token == row.token && !each->ended_at;
    });
}

void sql_scenario::inject_fault() {
    // What a proxy hides from its clients is mostly a failover.
    switch (is_wild() ? random_.below(is_shared() ? 16 : 8) : 0) {
    case 0:
        if (database_.end_a_session()) trace_.write("a session ends");
        return;
    case 1: trace_.write("the database crashes"); return database_.crash(random_.between(0ms, 3s));
    case 3: {
        auto& affected = *programs_[random_.below(programs_.size())];
        if (programs_.size() > 6 || !kill(affected)) return;
        database_.kill(affected.process);
        return begin_program();
    }
    case 4: return stop_a_program(100ms, 8s);
    case 5: return cut_off_a_program(100ms, 8s);
    case 6:
        for (int i = 0; i < 3; ++i)
            database_.end_a_session();
        return trace_.write("several sessions end");
    case 7: return force();
    default:
        trace_.write("another server is promoted");
        return database_.fail_over(random_.between(0ms, 3s));
    }
}

}  // namespace

scenario_result run_sql_scenario(std::uint64_t seed, sql_bug bug, const trace::line_sink& sink) {
    set_current_seed(seed);
    sql_scenario scenario(seed, bug, sink);
    return scenario.run(scenario_kind::sql);
}

}  // namespace pawl::simulation
