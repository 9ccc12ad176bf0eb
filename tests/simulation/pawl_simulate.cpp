// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Runs scenarios: many seeds, or one seed with a trace of all events.
#include "java/java_scripts.hpp"
#include "kernel/process_resources.hpp"
#include "services/redlock/redlock_scenario.hpp"
#include "services/scenarios.hpp"
#include "services/sessions/session_scenario.hpp"
#include "services/shedlock/shedlock_scenario.hpp"
#include "services/sql/sql_scenario.hpp"
#if PAWL_WITH_SQLITE
#include "services/sqlite/file_scenario.hpp"
#endif

#include <CLI/CLI.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace {

using namespace pawl::simulation;

struct settings {
    std::uint64_t first = 1;
    std::uint64_t seeds = 20'000;
    unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
    std::string bug = "none";
    std::string topology = "any";
    pawl::redis::key_layout layout = pawl::redis::key_layout::native;
    redlock_faults faults{};
    bool trace = false;
    bool bugs = false;
};

// The scenarios to run: of a seed, with or without a bug.
using scenario_runner =
    std::function<scenario_result(std::uint64_t seed, const trace::line_sink& sink)>;

struct totals {
    std::atomic<std::uint64_t> next{0}, finished{0}, steps{0}, grants{0}, failures{0};
    std::map<scenario_kind, std::uint64_t> kinds;  // guarded by `mutex`
    std::mutex mutex;
};

void show_progress(const totals& so_far, std::uint64_t all, bool terminal) {
    const auto finished = so_far.finished.load();
    std::fprintf(stderr, terminal ? "\r  %llu of %llu scenarios" : "  %llu of %llu scenarios\n",
                 static_cast<unsigned long long>(finished), static_cast<unsigned long long>(all));
}

void run_worker(const settings& options, const scenario_runner& run, totals& so_far) {
    const bool terminal = ::isatty(STDERR_FILENO) == 1;
    const auto every =
        std::max<std::uint64_t>(terminal ? options.seeds / 100 : options.seeds / 10, 1);
    for (;;) {
        const auto index = so_far.next++;
        if (index >= options.seeds) return;
        const auto result = run(options.first + index, {});
        so_far.steps += result.steps;
        so_far.grants += result.grants;
        const std::lock_guard lock(so_far.mutex);
        ++so_far.kinds[result.kind];
        if (++so_far.finished % every == 0) show_progress(so_far, options.seeds, terminal);
        if (result.violation.empty()) continue;
        ++so_far.failures;
        std::cout << (terminal ? "\n" : "") << "seed " << result.seed << ": " << result.violation
                  << std::endl;
    }
}

int run_many(const settings& options, const scenario_runner& run) {
    totals all;
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < options.jobs; ++i)
        workers.emplace_back([&] { run_worker(options, run, all); });
    workers.clear();
    std::cout << '\n'
              << all.finished << " scenarios, " << all.grants << " grants, " << all.steps
              << " steps, " << all.failures << " violations\n";
    for (const auto& [kind, count] : all.kinds)
        std::cout << to_string(kind) << ": " << count << " scenarios\n";
    return all.failures == 0 ? 0 : 1;
}

int run_traced(const settings& options, const scenario_runner& run) {
    const auto result =
        run(options.first, [](const std::string& line) { std::cout << line << '\n'; });
    std::cout << "seed " << result.seed << ", " << to_string(result.kind) << ", trace " << std::hex
              << result.hash << std::dec << ", " << result.events
              << " events: " << (result.violation.empty() ? "no violation" : result.violation)
              << '\n';
    return result.violation.empty() ? 0 : 1;
}

// For bugs that end the process: whether a child process dies.
bool is_found_in_child(const settings& options, injected_bug bug) {
    std::fflush(stdout);
    const auto child = ::fork();
    if (child == 0) {
        for (std::uint64_t index = 0; index < options.seeds; ++index)
            if (!run_scenario(options.first + index, bug, {}, options.layout).violation.empty())
                std::_Exit(1);
        std::_Exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status != 0;
}

bool report_bug(std::string_view name, std::uint64_t seeds, const std::string& violation) {
    std::printf("%-30s %6llu  %s\n", std::string(name).c_str(),
                static_cast<unsigned long long>(seeds),
                violation.empty() ? "MISSED" : violation.c_str());
    std::fflush(stdout);
    return !violation.empty();
}

bool is_found(const settings& options, std::string_view name, const scenario_runner& run) {
    std::string violation;
    std::uint64_t index = 0;
    for (; index < options.seeds && violation.empty(); ++index)
        violation = run(options.first + index, {}).violation;
    return report_bug(name, index, violation);
}

int run_bugs(const settings& options) {
    const bool is_redisson = options.layout == pawl::redis::key_layout::redisson;
    int missed = 0;
    for (const auto& [bug, name] : injected_bug_names) {
        const bool can_be_found = bug != injected_bug::none && !is_invisible_in_scenarios(bug) &&
                                  is_of_redisson(bug) == is_redisson;
        if (!can_be_found) continue;
        if (ends_process(bug)) {
            std::printf("%-30s ", std::string(name).c_str());
            const bool dies = is_found_in_child(options, bug);
            if (!dies) std::printf("MISSED\n");
            missed += !dies;
            continue;
        }
        missed += !is_found(options, name, [&, bug = bug](auto seed, const auto& sink) {
            return run_scenario(seed, bug, sink, options.layout);
        });
    }
    if (is_redisson) return missed == 0 ? 0 : 1;
    for (const auto& each : topology_bugs)
        missed += !is_found(options, each.name, [&](auto seed, const auto& sink) {
            return run_scenario_with(each, seed, sink);
        });
    for (const auto& [bug, name] : redlock_bug_names)
        missed += !is_found(options, name, [bug = bug](auto seed, const auto& sink) {
            return run_redlock_scenario(seed, bug, sink);
        });
    for (const auto& [bug, name] : sql_bug_names)
        if (bug != sql_bug::none)
            missed += !is_found(options, name, [bug = bug](auto seed, const auto& sink) {
                return run_sql_scenario(seed, bug, sink);
            });
    for (const auto& [bug, name] : shedlock_bug_names)
        if (bug != shedlock_bug::none)
            missed += !is_found(options, name, [bug = bug](auto seed, const auto& sink) {
                return run_shedlock_scenario(seed, bug, sink);
            });
    for (const auto& [bug, name] : session_bug_names)
        if (bug != session_bug::none)
            missed += !is_found(options, name, [bug = bug](auto seed, const auto& sink) {
                return run_session_scenario(seed, bug, sink);
            });
#if PAWL_WITH_SQLITE
    for (const auto& [bug, name] : file_bug_names)
        if (bug != file_bug::none)
            missed += !is_found(options, name, [bug = bug](auto seed, const auto& sink) {
                return run_file_scenario(seed, bug, sink);
            });
#endif
    return missed == 0 ? 0 : 1;
}

// Empty if there is no such topology.
scenario_runner runner_of(const settings& options) {
    const auto& topology = options.topology;
    if (topology == "any") return run_any_scenario;
    if (topology == "sentinels")
        return [](auto seed, const auto& sink) {
            return run_sentinel_scenario(seed, topology_bug::none, sink);
        };
    if (topology == "cluster")
        return [](auto seed, const auto& sink) {
            return run_cluster_scenario(seed, topology_bug::none, sink);
        };
    if (topology == "redlock")
        return [wanted = options.faults](auto seed, const auto& sink) {
            return run_redlock_scenario(seed, redlock_bug::none, sink, wanted);
        };
    if (topology == "servers")
        return [](auto seed, const auto& sink) {
            return run_scenario(seed, injected_bug::none, sink);
        };
    if (topology == "sql")
        return
            [](auto seed, const auto& sink) { return run_sql_scenario(seed, sql_bug::none, sink); };
    if (topology == "shedlock")
        return [](auto seed, const auto& sink) {
            return run_shedlock_scenario(seed, shedlock_bug::none, sink);
        };
    if (topology == "sessions")
        return [](auto seed, const auto& sink) {
            return run_session_scenario(seed, session_bug::none, sink);
        };
#if PAWL_WITH_SQLITE
    if (topology == "sqlite")
        return [](auto seed, const auto& sink) {
            return run_file_scenario(seed, file_bug::none, sink);
        };
#endif
    return {};
}

// The scenarios that the options ask for; empty, after a message, if there are none.
scenario_runner choose_runner(const settings& options) {
    const auto bug = std::ranges::find(injected_bug_names, options.bug,
                                       &std::pair<injected_bug, std::string_view>::second);
    if (bug != injected_bug_names.end() &&
        (bug->first != injected_bug::none || options.layout == pawl::redis::key_layout::redisson))
        return [layout = options.layout, bug = bug->first](auto seed, const auto& sink) {
            return run_scenario(seed, bug, sink, layout);
        };
    if (bug != injected_bug_names.end()) {
        const auto runner = runner_of(options);
        if (!runner)
            std::cerr << "There is no topology '" << options.topology
                      << "'; write any, servers, sentinels, cluster, redlock, sql, "
                         "shedlock, sessions or sqlite.\n";
        return runner;
    }
    const auto other = std::ranges::find(topology_bugs, options.bug, &named_topology_bug::name);
    if (other != topology_bugs.end())
        return [each = *other](auto seed, const auto& sink) {
            return run_scenario_with(each, seed, sink);
        };
    const auto redlock = std::ranges::find(redlock_bug_names, options.bug,
                                           &std::pair<redlock_bug, std::string_view>::second);
    if (redlock != redlock_bug_names.end())
        return [bug = redlock->first, wanted = options.faults](auto seed, const auto& sink) {
            return run_redlock_scenario(seed, bug, sink, wanted);
        };
    const auto of_database = std::ranges::find(sql_bug_names, options.bug,
                                               &std::pair<sql_bug, std::string_view>::second);
    if (of_database != sql_bug_names.end())
        return [bug = of_database->first](auto seed, const auto& sink) {
            return run_sql_scenario(seed, bug, sink);
        };
    const auto of_table = std::ranges::find(shedlock_bug_names, options.bug,
                                            &std::pair<shedlock_bug, std::string_view>::second);
    if (of_table != shedlock_bug_names.end())
        return [bug = of_table->first](auto seed, const auto& sink) {
            return run_shedlock_scenario(seed, bug, sink);
        };
    const auto of_session = std::ranges::find(session_bug_names, options.bug,
                                              &std::pair<session_bug, std::string_view>::second);
    if (of_session != session_bug_names.end())
        return [bug = of_session->first](auto seed, const auto& sink) {
            return run_session_scenario(seed, bug, sink);
        };
#if PAWL_WITH_SQLITE
    const auto of_file = std::ranges::find(file_bug_names, options.bug,
                                           &std::pair<file_bug, std::string_view>::second);
    if (of_file != file_bug_names.end())
        return [bug = of_file->first](auto seed, const auto& sink) {
            return run_file_scenario(seed, bug, sink);
        };
#endif
    std::cerr << "There is no bug '" << options.bug
              << "'; see the files *.def in tests/simulation.\n";
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    settings options;
    CLI::App app("Runs scenarios of simulated programs, users and a server, with faults.");
    app.add_option("--seed", options.first, "the first seed")->capture_default_str();
    app.add_option("--seeds", options.seeds, "the number of seeds")->capture_default_str();
    app.add_option("--jobs", options.jobs, "the number of threads")->capture_default_str();
    app.add_option("--bug", options.bug, "inject one of the bugs of tests/simulation/bugs");
    app.add_option("--topology", options.topology,
                   "any (the seed decides), servers, sentinels, cluster, redlock, sql, "
                   "shedlock, sessions or sqlite")
        ->capture_default_str();
    std::map<std::string, redlock_fault> faults;
    for (const auto& [fault, name] : redlock_fault_names)
        faults.emplace(name, fault);
    std::vector<redlock_fault> wanted;
    app.add_option("--faults", wanted, "these faults in every scenario of Redlock")
        ->transform(CLI::CheckedTransformer(faults))
        ->delimiter(',');
    bool redisson = false;
    app.add_flag("--redisson", redisson, "Redisson's layout, beside programs in Java");
    app.add_flag("--trace", options.trace, "print all events of the first seed's scenario");
    app.add_flag("--bugs", options.bugs,
                 "inject each bug in turn and print how many seeds find it");
    CLI11_PARSE(app, argc, argv);
    options.faults.insert(wanted.begin(), wanted.end());
    if (redisson) options.layout = pawl::redis::key_layout::redisson;
    report_terminations();
    const auto run = choose_runner(options);
    if (!run) return 64;
    try {
        if (redisson) static_cast<void>(text_of(java_script::lock));
    } catch (const std::runtime_error& missing) {
        std::cerr << missing.what() << '\n';
        return 69;
    }
    if (options.bugs) return run_bugs(options);
    return options.trace ? run_traced(options, run) : run_many(options, run);
}
