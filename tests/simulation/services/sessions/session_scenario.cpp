// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../../kernel/process_resources.hpp"
#include "../database/database_world.hpp"
#include "../scenarios.hpp"

#include <algorithm>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

constexpr duration longest_session_ttl = 10s;
// Until a lock that nobody knows is given back by a program that reaches the undisturbed server.
constexpr instant longest_give_back = 8s;
// From the end of a session until the last packet for it arrives, whatever disturbs it.
constexpr instant latest_packet = 25s;

class session_world final : public database_world {
public:
    session_world(std::uint64_t seed, session_bug bug, const trace::line_sink& sink)
        : database_world(seed, sink),
          database_(loop_, random_.fork(), bug,
                    [this](const auto& process, const auto& key, loss_reason reason) {
                        note_end_of_lock(process, key, reason);
                    }) {
        database_.set_wild(is_wild());
        start();
    }
    // The sessions use the server until they end.
    ~session_world() override { programs_.clear(); }

private:
    database_server& server() noexcept override { return database_; }
    const database_server& server() const noexcept override { return database_; }
    service connect(simulated_process& process) override { return database_.connect(process); }
    std::vector<duration> ttls() const override { return {1s, 2s, 5s, longest_session_ttl}; }
    lock_options choose(user& caller, attempt& made) override;
    bool is_free(const std::string& name) override {
        return database_.is_up() && database_.holders(name).empty();
    }
    void note_end_of_lock(const simulated_process& process, const std::string& key,
                          loss_reason reason);
    void observe_holds() override;
    void check_rows(const std::string& name) override;
    void close() override;
    // How many of the program's users believe to have the lock; or of its sessions do.
    [[nodiscard]] std::ptrdiff_t count_believers(const program& by, const std::string& name) const;
    [[nodiscard]] std::ptrdiff_t count_holders(const program& by, const std::string& name) const;

    lock_server database_;
    // By the name of the lock, and by its holder.
    struct unknown_session {
        std::optional<instant> since, endable_since;
    };
    std::map<std::string, std::map<server_session_ptr, unknown_session>> unknown_;
};

lock_options session_world::choose(user& caller, attempt& made) {
    auto options = database_world::choose(caller, made);
    const bool may_read = database_.has_readers() && made.names.front() == "room";
    if (may_read && caller.choices.happens(0.6)) options.mode = lock_mode::shared;
    return options;
}

std::ptrdiff_t session_world::count_believers(const program& by, const std::string& name) const {
    return std::ranges::count_if(holds_.all(), [&](const auto& each) {
        return each->program == &by && each->name == name && !each->ended_at;
    });
}

std::ptrdiff_t session_world::count_holders(const program& by, const std::string& name) const {
    return std::ranges::count_if(database_.holders(name),
                                 [&](const auto& each) { return &each->process == &by.process; });
}

// The server may take a lock at any time, by a command or a crash. But its limit for idle sessions
// never ends a hold before its deadline.
void session_world::note_end_of_lock(const simulated_process& process, const std::string& key,
                                     loss_reason reason) {
    auto* const by = program_of(&process);
    if (by == nullptr || reason == loss_reason::none) return;
    if (reason != loss_reason::expired) return holds_.note_end(key, by);
    if (count_holders(*by, key) > 0) return;  // of another user
    for (const auto& caller : by->users) {
        if (!caller->lock || caller->beliefs.empty()) continue;
        const auto& hold = *caller->beliefs.front();
        const auto deadline = by->process.instant_of(caller->lock->safe_until());
        if (hold.name == key && !hold.ended_at && deadline > loop_.now() &&
            !holds_.is_forced(hold, loop_.now()))
            fail("the server has ended an idle hold of " + key + " before its deadline");
    }
}

// The end of a session is told at once.
void session_world::observe_holds() {
    for (const auto& by : programs_)
        for (const auto& caller : by->users)
            for (auto* const hold : caller->beliefs) {
                const bool is_missing =
                    can_ask(*by) && !hold->ended_at &&
                    count_holders(*by, hold->name) < count_believers(*by, hold->name);
                if (lasts(hold->missing_since, is_missing, is_wild() ? 5s : 50ms))
                    fail("the end of a session with " + hold->name + " was not told");
            }
}

// A lock that nobody knows is given back: soon if its program can do it, else by the limit for
// idle sessions.
void session_world::check_rows(const std::string& name) {
    const auto holders = database_.holders(name);
    auto& unknown = unknown_[name];
    std::erase_if(unknown,
                  [&](const auto& each) { return std::ranges::count(holders, each.first) == 0; });
    for (const auto& each : holders) {
        const auto* const by = program_of(&each->process);
        auto& seen = unknown[each];
        const bool is_unknown = count_believers(*by, name) == 0;
        if (lasts(seen.since, is_unknown, longest_session_ttl + latest_packet))
            fail("nobody knows a session with " + name + ", and it does not end");
        const instant longest = is_gentle() ? 1s : longest_give_back;
        if (lasts(seen.endable_since, is_unknown && can_ask(*by), longest) && is_quiet_for(longest))
            fail("nobody knows a session with " + name + ", and nobody ends it");
    }
}

void session_world::close() {
    database_world::close();
    if (database_.has_locks() || database_.count_sessions() > 0)
        fail("a lock or a session is left when all clients have gone");
}

}  // namespace

scenario_result run_session_scenario(std::uint64_t seed, session_bug bug,
                                     const trace::line_sink& sink) {
    set_current_seed(seed);
    session_world scenario(seed, bug, sink);
    return scenario.run(scenario_kind::sessions);
}

}  // namespace pawl::simulation
