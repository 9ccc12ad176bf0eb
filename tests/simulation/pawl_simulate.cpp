// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Runs scenarios: many seeds, or one seed with a trace of all events.
#include "java/java_scripts.hpp"
#include "kernel/process_resources.hpp"
#include "services/scenarios.hpp"

#include <CLI/CLI.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
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
    redlock_faults faults{};
    bool trace = false;
    bool bugs = false;
};

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
bool ends_child(const settings& options, const scenario_bug& bug) {
    std::fflush(stdout);
    const auto child = ::fork();
    if (child == 0) {
        for (std::uint64_t index = 0; index < options.seeds; ++index)
            if (!bug.run(options.first + index, {}).violation.empty()) std::_Exit(1);
        std::_Exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status != 0;
}

bool is_found(const settings& options, const scenario_bug& bug) {
    std::string violation;
    std::uint64_t index = 0;
    if (bug.ends_process) {
        if (ends_child(options, bug)) violation = "the process ends";
    } else {
        for (; index < options.seeds && violation.empty(); ++index)
            violation = bug.run(options.first + index, {}).violation;
    }
    std::printf("%-30s %6llu  %s\n", std::string(bug.name).c_str(),
                static_cast<unsigned long long>(index),
                violation.empty() ? "MISSED" : violation.c_str());
    std::fflush(stdout);
    return !violation.empty();
}

// All bugs but those of Redisson's layout, or these alone.
int run_bugs(const settings& options) {
    const bool of_redisson = options.topology == "redisson";
    int missed = 0;
    for (const auto& each : all_bugs())
        if ((each.topology == "redisson") == of_redisson) missed += !is_found(options, each);
    return missed == 0 ? 0 : 1;
}

// The scenarios that the options ask for; empty, after a message, if there are none.
scenario_runner choose_runner(settings& options) {
    const auto bugs = all_bugs(options.faults);
    const auto bug = std::ranges::find(bugs, options.bug, &scenario_bug::name);
    if (bug != bugs.end()) {
        options.topology = bug->topology;
        return bug->run;
    }
    auto runner =
        options.bug == "none" ? runner_of(options.topology, options.faults) : scenario_runner();
    if (!runner && options.bug == "none")
        std::cerr << "There is no topology '" << options.topology
                  << "'; write any, servers, redisson, sentinels, cluster, redlock, sql, "
                     "shedlock, sessions or sqlite.\n";
    else if (!runner)
        std::cerr << "There is no bug '" << options.bug
                  << "'; see the files *.def in tests/simulation.\n";
    return runner;
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
                   "any (the seed decides), servers, redisson, sentinels, cluster, redlock, sql, "
                   "shedlock, sessions or sqlite")
        ->capture_default_str();
    std::map<std::string, redlock_fault> faults;
    for (const auto& [fault, name] : redlock_fault_names)
        faults.emplace(name, fault);
    std::vector<redlock_fault> wanted;
    app.add_option("--faults", wanted, "these faults in every scenario of Redlock")
        ->transform(CLI::CheckedTransformer(faults))
        ->delimiter(',');
    app.add_flag_callback(
        "--redisson", [&] { options.topology = "redisson"; },
        "Redisson's layout, beside programs in Java: --topology redisson");
    app.add_flag("--trace", options.trace, "print all events of the first seed's scenario");
    app.add_flag("--bugs", options.bugs,
                 "inject each bug in turn and print how many seeds find it");
    CLI11_PARSE(app, argc, argv);
    options.faults.insert(wanted.begin(), wanted.end());
    report_terminations();
    const auto run = choose_runner(options);
    if (!run) return 64;
    try {
        if (options.topology == "redisson") static_cast<void>(text_of(java_script::lock));
    } catch (const std::runtime_error& missing) {
        std::cerr << missing.what() << '\n';
        return 69;
    }
    if (options.bugs) return run_bugs(options);
    return options.trace ? run_traced(options, run) : run_many(options, run);
}
