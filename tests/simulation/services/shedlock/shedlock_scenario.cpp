// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../../kernel/process_resources.hpp"
#include "../database/database_world.hpp"
#include "../scenarios.hpp"
#include "java_service.hpp"

#include <algorithm>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

// From the end of a hold until the last statement for it arrives, whatever disturbs it.
constexpr instant latest_extension = 20s;

class shedlock_world final : public database_world {
public:
    shedlock_world(std::uint64_t seed, shedlock_bug bug, const trace::line_sink& sink)
        : database_world(seed, sink), database_(loop_, random_.fork(), bug) {
        database_.set_wild(is_wild());
        table_.others_use_database_time = true;
        if (random_.happens(0.3)) table_.lock_at_least = 1500ms;
        start();
        for (const auto* label : {"java1", "java2"})
            services_.push_back(
                std::make_unique<java_service>(database_, holds_, trace_, random_.fork(), label));
    }
    // The sessions use the database until they end.
    ~shedlock_world() override {
        services_.clear();
        programs_.clear();
    }

private:
    database_server& server() noexcept override { return database_; }
    const database_server& server() const noexcept override { return database_; }
    service connect(simulated_process& process) override {
        return database_.connect(process, table_);
    }
    std::vector<duration> ttls() const override { return {700ms, 2s, 5s, 10s, 30s}; }
    bool is_free(const std::string& name) override {
        return database_.is_up() && database_.held_row(name) == nullptr;
    }
    void begin() override {
        database_world::begin();
        for (const auto& each : services_)
            each->start(names());
    }
    void disturb_others() override;
    void stop_faults() override;
    void observe_holds() override;
    void check_rows(const std::string& name) override;
    void close() override {
        stop_faults();
        database_world::close();
    }

    shedlock_server database_;
    shedlock_table table_;
    std::vector<std::unique_ptr<java_service>> services_;
    // By the name of the lock.
    struct unknown_hold {
        std::string owner;
        std::optional<instant> since, undoable_since;
    };
    std::map<std::string, unknown_hold> unknown_;
};

void shedlock_world::disturb_others() {
    auto& process = services_[random_.below(services_.size())]->process;
    const auto length = random_.between(100ms, 12s);
    if (random_.happens(0.5)) {
        trace_.write("a Java service is cut off");
        database_.cut_off(process);
        loop_.schedule_after(length, [this, &process] { database_.reconnect(process); });
    } else if (!process.is_paused()) {
        trace_.write("a Java service is stopped");
        process.pause();
        loop_.schedule_after(length, [&process] { process.resume(); });
    }
}

void shedlock_world::stop_faults() {
    database_world::stop_faults();
    for (const auto& each : services_) {
        database_.reconnect(each->process);
        if (each->process.is_paused()) each->process.resume();
        each->stop();
    }
}

// Until its deadline, a believed hold is in the table.
void shedlock_world::observe_holds() {
    for (const auto& by : programs_)
        for (const auto& caller : by->users) {
            if (!caller->lock || caller->beliefs.empty() || by->is_dead) continue;
            const auto& hold = *caller->beliefs.front();
            const auto deadline = by->process.instant_of(caller->lock->safe_until());
            if (hold.ended_at || deadline <= loop_.now() || holds_.is_forced(hold, loop_.now()))
                continue;
            const auto* const row = database_.held_row(hold.name);
            if (row == nullptr || static_cast<std::uint64_t>(row->fence) != hold.token ||
                row->lock_until < deadline)
                fail("the table lacks a hold of " + hold.name + " before its deadline");
        }
}

// A hold that nobody knows ends: at once if its program can undo it, else with its lease.
void shedlock_world::check_rows(const std::string& name) {
    const auto* const row = database_.held_row(name);
    auto& seen = unknown_[name];
    if (row == nullptr || seen.owner != row->locked_by)
        seen = {row == nullptr ? std::string() : row->locked_by};
    if (row == nullptr || row->process == nullptr) return;
    const auto* const by = program_of(row->process);
    if (by == nullptr) return;  // of Java
    const bool is_known = std::ranges::any_of(holds_.all(), [&](const auto& each) {
        return each->name == name && each->token == static_cast<std::uint64_t>(row->fence) &&
               !each->ended_at;
    });
    const bool is_unknown = !is_known && loop_.now() - row->locked_at > table_.lock_at_least;
    if (lasts(seen.since, is_unknown, row->ttl + latest_extension))
        fail("nobody knows a hold of " + name + ", and it does not end");
    const bool may_undo = can_ask(*by);
    if (lasts(seen.undoable_since, is_unknown && may_undo, longest_undo) &&
        is_quiet_for(longest_undo))
        fail("nobody knows a hold of " + name + ", and nobody undoes it");
}

}  // namespace

scenario_result run_shedlock_scenario(std::uint64_t seed, shedlock_bug bug,
                                      const trace::line_sink& sink) {
    set_current_seed(seed);
    shedlock_world scenario(seed, bug, sink);
    return scenario.run(scenario_kind::shedlock);
}

}  // namespace pawl::simulation
