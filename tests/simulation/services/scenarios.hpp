// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The scenarios of all topologies, and the bugs that they must find. Each seed has its own
// scenario. `sink` receives every line of its trace; it may be empty.
#pragma once

#include "../bugs/topology_bugs.hpp"
#include "../kernel/trace.hpp"
#include "../world/scenario_result.hpp"
#include "redlock/redlock_plan.hpp"
#include "sessions/lock_server.hpp"
#include "shedlock/shedlock_server.hpp"
#include "sql/sql_database.hpp"
#if PAWL_WITH_SQLITE
#include "sqlite/file_bugs.hpp"
#endif

#include <pawl/redis.hpp>

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace pawl::simulation {

// With one server or several, as the seed decides.
[[nodiscard]] scenario_result run_scenario(std::uint64_t seed,
                                           injected_bug bug = injected_bug::none,
                                           const trace::line_sink& sink = {},
                                           redis::key_layout layout = redis::key_layout::native);
[[nodiscard]] scenario_result run_sentinel_scenario(std::uint64_t seed, topology_bug bug,
                                                    const trace::line_sink& sink);
[[nodiscard]] scenario_result run_cluster_scenario(std::uint64_t seed, topology_bug bug,
                                                   const trace::line_sink& sink);
[[nodiscard]] scenario_result run_redlock_scenario(std::uint64_t seed, redlock_bug bug,
                                                   const trace::line_sink& sink,
                                                   const redlock_faults& wanted);
[[nodiscard]] scenario_result run_sql_scenario(std::uint64_t seed, sql_bug bug,
                                               const trace::line_sink& sink);
[[nodiscard]] scenario_result run_shedlock_scenario(std::uint64_t seed, shedlock_bug bug,
                                                    const trace::line_sink& sink);
[[nodiscard]] scenario_result run_session_scenario(std::uint64_t seed, session_bug bug,
                                                   const trace::line_sink& sink);
#if PAWL_WITH_SQLITE
[[nodiscard]] scenario_result run_file_scenario(std::uint64_t seed, file_bug bug,
                                                const trace::line_sink& sink);
#endif

using scenario_runner =
    std::function<scenario_result(std::uint64_t seed, const trace::line_sink& sink)>;

// any, servers, redisson (servers with Redisson's layout), sentinels, cluster, redlock, sql,
// shedlock, sessions or sqlite; empty if there is no such topology. Of ten seeds of `any`, five
// have one server or several, three have Sentinels, one has Redlock, and one has a cluster, whose
// scenarios take the most time. `wanted`: in every scenario of Redlock.
[[nodiscard]] scenario_runner runner_of(std::string_view topology,
                                        const redlock_faults& wanted = {});

struct scenario_bug {
    std::string_view name;
    std::string_view topology;
    scenario_runner run;  // the scenarios of the topology, with the bug
    bool ends_process = false;
};
// All bugs that scenarios can find.
[[nodiscard]] std::vector<scenario_bug> all_bugs(const redlock_faults& wanted = {});

}  // namespace pawl::simulation
