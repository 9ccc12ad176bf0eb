// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One scenario of the backend over stored functions: programs that lock in one database, and faults
// of the database, its sessions and the programs.
#include "../../kernel/process_resources.hpp"
#include "../../world/world.hpp"
#include "../scenarios.hpp"
#include "sql_checker.hpp"

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
// Of a hold that nobody knows, in a program that reaches the undisturbed database: an answer is
// waited for during 5 s.
constexpr auto longest_undo = 8s;


class sql_scenario final : public world {
public:
    sql_scenario(std::uint64_t seed, sql_bug bug, const trace::line_sink& sink)
        : world({.seed = seed,
                 .users_per_program = 2,
                 .downgrades = 0.15,
                 .longest_hold = 1s,
                 .longest_rare_hold = 8s},
                sink),
          kind_(random_.below(10)),
          holds_(loop_),
          database_(loop_, random_.fork(), bug) {
        database_.set_wild(is_wild());
        database_.set_shared(is_shared());
        start();
    }
    // The sessions use the database until they end.
    ~sql_scenario() override { programs_.clear(); }

private:
    // The database. Three of ten scenarios have no faults, two only ends of sessions. In two of
    // those with all faults, a proxy shares its sessions.
    [[nodiscard]] bool is_gentle() const noexcept { return kind_ < 3; }
    [[nodiscard]] bool is_wild() const noexcept { return kind_ >= 5; }
    [[nodiscard]] bool is_shared() const noexcept { return kind_ >= 8; }
    service connect(simulated_process& process) override { return database_.connect(process); }
    void cut_off(simulated_process& process) override { database_.cut_off(process); }
    void reconnect(simulated_process& process) override { database_.reconnect(process); }
    void disturb() override;
    void inject_fault();
    void force();
    void stop_faults() override { database_.set_wild(false); }
    bool recover() override {
        loop_.run_for(2 * longest_ttl);
        return true;
    }
    instant longest_wait() const override { return 1min; }
    void note_disturbance() { disturbed_at_ = loop_.now(); }

    // The users.
    lock_options choose(user& caller, attempt& made) override;

    // The rules.
    beliefs& holds() noexcept override { return holds_; }
    void check_grant(const attempt&, const believed_hold& granted) override {
        holds_.check_token(granted);
    }
    void check_loss(const believed_hold& lost) override;
    void check_failure(const attempt& failed, const boost::system::error_code& ec) override;
    void observe_lock(const std::string& name, observation& seen) override;
    // The rules for the rows.
    void check_rows(const std::string& name);
    [[nodiscard]] bool is_abandoned(const std::string& name, const live_hold& row) const;

    const std::size_t kind_;
    sql_checker holds_;
    sql_database database_;
    instant disturbed_at_{-1h};
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

void sql_scenario::check_loss(const believed_hold& lost) {
    if (!is_gentle() || holds_.is_forced(lost, loop_.now())) return;
    fail("a hold of " + lost.name + " was lost without a cause");
}

void sql_scenario::check_failure(const attempt& failed, const boost::system::error_code& ec) {
    if (ec == make_error_code(errc::timed_out) && failed.may_time_out) return;
    if (is_calm_ || is_gentle()) fail("an unexpected error: " + message_of(failed));
}

// When nothing disturbs the waiters, a free lock is granted soon; else at the latest when they look
// again after the lease that they know.
void sql_scenario::observe_lock(const std::string& name, observation& seen) {
    check_rows(name);
    const bool is_wanted = std::ranges::any_of(attempts_, [&](const auto& each) {
        return each->names.front() == name && !each->by->is_dead &&
               !each->by->process.is_paused() && database_.is_reachable(each->by->process);
    });
    const instant longest = is_gentle() ? 900ms : is_wild() ? 2 * longest_ttl : 4s;
    if (!lasts(seen.nobody_gets_it, is_wanted && database_.is_free(name), longest)) return;
    if (loop_.now() - disturbed_at_ > longest)
        fail("somebody waits for the lock " + name + ", which is free");
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
            loop_.now() - disturbed_at_ > longest_undo)
            fail("nobody knows a hold of " + name + ", and nobody undoes it");
}

// Of an attempt that was given up, or of a user that released it.
bool sql_scenario::is_abandoned(const std::string& name, const live_hold& row) const {
    const auto by =
        std::ranges::find(programs_, row.process, [](const auto& each) { return &each->process; });
    if (row.is_restored || by == programs_.end() || (*by)->is_dead || (*by)->process.is_paused() ||
        !database_.is_reachable((*by)->process))
        return false;
    return std::ranges::none_of(holds_.all(), [&](const auto& each) {
        return each->name == name && each->token == row.token && !each->ended_at;
    });
}

void sql_scenario::disturb() {
    if (random_.happens(0.3)) force();
    if (is_gentle()) return;
    for (auto left = random_.below(5); left > 0 && !has_failed(); --left) {
        inject_fault();
        loop_.run_for(random_.between(0ms, 3s));
        note_disturbance();
    }
}

void sql_scenario::inject_fault() {
    note_disturbance();
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

void sql_scenario::force() {
    auto& by = *programs_[random_.below(programs_.size())];
    const auto& name = random_name();
    if (by.is_dead) return;
    trace_.write(by.label + " forces " + name);
    holds_.note_force(name);
    by.process.post([this, &by, name, index = holds_.count_forces() - 1] {
        if (is_over_ || by.is_dead) return;
        const auto end = [this, &by, index](const boost::system::error_code&, bool) {
            // Without an answer it may still be carried out, within the longest life of a session.
            loop_.schedule_after(10s, [this, index] { holds_.end_force(index); });
        };
        by.locks->async_force_release(name, by.run_in_process(end));
    });
}

}  // namespace

scenario_result run_sql_scenario(std::uint64_t seed, sql_bug bug, const trace::line_sink& sink) {
    set_current_seed(seed);
    sql_scenario scenario(seed, bug, sink);
    return scenario.run(scenario_kind::sql);
}

}  // namespace pawl::simulation
