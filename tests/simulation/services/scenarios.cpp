// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "scenarios.hpp"

#include <array>

namespace pawl::simulation {
namespace {

// The runner of one bug, or of none.
template <class Bug>
scenario_runner with(Bug bug, scenario_result (*run)(std::uint64_t, Bug, const trace::line_sink&)) {
    return [=](auto seed, const auto& sink) { return run(seed, bug, sink); };
}

scenario_runner with(injected_bug bug, redis::key_layout layout) {
    return [=](auto seed, const auto& sink) { return run_scenario(seed, bug, sink, layout); };
}

scenario_runner with(redlock_bug bug, const redlock_faults& wanted) {
    return
        [=](auto seed, const auto& sink) { return run_redlock_scenario(seed, bug, sink, wanted); };
}

scenario_result run_any(std::uint64_t seed, const trace::line_sink& sink) {
    static constexpr std::array<std::string_view, 10> topologies{
        "servers",   "servers", "sentinels", "servers",   "redlock",
        "sentinels", "servers", "cluster",   "sentinels", "servers"};
    return runner_of(topologies[seed % 10])(seed, sink);
}

}  // namespace

scenario_runner runner_of(std::string_view topology, const redlock_faults& wanted) {
    if (topology == "any") return run_any;
    if (topology == "servers") return with(injected_bug::none, redis::key_layout::native);
    if (topology == "redisson") return with(injected_bug::none, redis::key_layout::redisson);
    if (topology == "sentinels") return with(topology_bug::none, run_sentinel_scenario);
    if (topology == "cluster") return with(topology_bug::none, run_cluster_scenario);
    if (topology == "redlock") return with(redlock_bug::none, wanted);
    if (topology == "sql") return with(sql_bug::none, run_sql_scenario);
    if (topology == "shedlock") return with(shedlock_bug::none, run_shedlock_scenario);
    if (topology == "sessions") return with(session_bug::none, run_session_scenario);
#if PAWL_WITH_SQLITE
    if (topology == "sqlite") return with(file_bug::none, run_file_scenario);
#endif
    return {};
}

std::vector<scenario_bug> all_bugs(const redlock_faults& wanted) {
    using enum redis::key_layout;
    std::vector<scenario_bug> all;
    for (const auto& [bug, name] : injected_bug_names) {
        if (is_invisible_in_scenarios(bug)) continue;
        const bool of_redisson = is_of_redisson(bug);
        all.push_back({name, of_redisson ? "redisson" : "servers",
                       with(bug, of_redisson ? redisson : native), ends_process(bug)});
    }
    for (const auto& [bug, name, where] : topology_bugs)
        all.push_back(where == named_topology_bug::place::cluster
                          ? scenario_bug{name, "cluster", with(bug, run_cluster_scenario)}
                          : scenario_bug{name, "sentinels", with(bug, run_sentinel_scenario)});
    for (const auto& [bug, name] : redlock_bug_names)
        all.push_back({name, "redlock", with(bug, wanted)});
    for (const auto& [bug, name] : sql_bug_names)
        all.push_back({name, "sql", with(bug, run_sql_scenario)});
    for (const auto& [bug, name] : shedlock_bug_names)
        all.push_back({name, "shedlock", with(bug, run_shedlock_scenario)});
    for (const auto& [bug, name] : session_bug_names)
        all.push_back({name, "sessions", with(bug, run_session_scenario)});
#if PAWL_WITH_SQLITE
    for (const auto& [bug, name, trigger] : file_bugs)
        all.push_back({name, "sqlite", with(bug, run_file_scenario)});
#endif
    return all;
}

}  // namespace pawl::simulation
