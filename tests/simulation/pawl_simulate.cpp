// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Runs scenarios: many seeds, or one seed with a trace of all events.
#include "java/java_scripts.hpp"
#include "kernel/process_resources.hpp"
#include "workload/scenario.hpp"

#include <CLI/CLI.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <iostream>
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
    pawl::redis::key_layout layout = pawl::redis::key_layout::native;
    bool trace = false;
    bool bugs = false;
};

struct totals {
    std::atomic<std::uint64_t> next{0}, finished{0}, steps{0}, grants{0}, failures{0};
    std::mutex mutex;
};

void show_progress(const totals& so_far, std::uint64_t all, bool terminal) {
    const auto finished = so_far.finished.load();
    std::fprintf(stderr, terminal ? "\r  %llu of %llu scenarios" : "  %llu of %llu scenarios\n",
                 static_cast<unsigned long long>(finished), static_cast<unsigned long long>(all));
}

void run_worker(const settings& options, injected_bug bug, totals& so_far) {
    const bool terminal = ::isatty(STDERR_FILENO) == 1;
    const auto every =
        std::max<std::uint64_t>(terminal ? options.seeds / 100 : options.seeds / 10, 1);
    for (;;) {
        const auto index = so_far.next++;
        if (index >= options.seeds) return;
        const auto result = run_scenario(options.first + index, bug, {}, options.layout);
        so_far.steps += result.steps;
        so_far.grants += result.grants;
        const std::lock_guard lock(so_far.mutex);
        if (++so_far.finished % every == 0) show_progress(so_far, options.seeds, terminal);
        if (result.violation.empty()) continue;
        ++so_far.failures;
        std::cout << (terminal ? "\n" : "") << "seed " << result.seed << ": " << result.violation
                  << std::endl;
    }
}

int run_many(const settings& options, injected_bug bug) {
    totals all;
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < options.jobs; ++i)
        workers.emplace_back([&] { run_worker(options, bug, all); });
    workers.clear();
    std::cout << '\n'
              << all.finished << " scenarios, " << all.grants << " grants, " << all.steps
              << " steps, " << all.failures << " violations\n";
    return all.failures == 0 ? 0 : 1;
}

int run_traced(const settings& options, injected_bug bug) {
    const auto result = run_scenario(
        options.first, bug, [](const std::string& line) { std::cout << line << '\n'; },
        options.layout);
    std::cout << "seed " << result.seed << ", trace " << std::hex << result.hash << std::dec << ", "
              << result.events
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
        std::string violation;
        std::uint64_t index = 0;
        for (; index < options.seeds && violation.empty(); ++index)
            violation = run_scenario(options.first + index, bug, {}, options.layout).violation;
        missed += violation.empty();
        std::printf("%-30s %6llu  %s\n", std::string(name).c_str(),
                    static_cast<unsigned long long>(index),
                    violation.empty() ? "MISSED" : violation.c_str());
        std::fflush(stdout);
    }
    return missed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    settings options;
    CLI::App app("Runs scenarios of simulated programs, users and a server, with faults.");
    app.add_option("--seed", options.first, "the first seed")->capture_default_str();
    app.add_option("--seeds", options.seeds, "the number of seeds")->capture_default_str();
    app.add_option("--jobs", options.jobs, "the number of threads")->capture_default_str();
    app.add_option("--bug", options.bug, "inject one of the bugs of injected_bug.hpp");
    bool redisson = false;
    app.add_flag("--redisson", redisson, "Redisson's layout, beside programs in Java");
    app.add_flag("--trace", options.trace, "print all events of the first seed's scenario");
    app.add_flag("--bugs", options.bugs,
                 "inject each bug in turn and print how many seeds find it");
    CLI11_PARSE(app, argc, argv);
    if (redisson) options.layout = pawl::redis::key_layout::redisson;
    report_terminations();
    const auto bug = std::ranges::find(injected_bug_names, options.bug,
                                       &std::pair<injected_bug, std::string_view>::second);
    if (bug == injected_bug_names.end()) {
        std::cerr << "There is no bug '" << options.bug
                  << "'; see tests/simulation/bugs/injected_bug.hpp.\n";
        return 64;
    }
    try {
        if (redisson) static_cast<void>(text_of(java_script::lock));
    } catch (const std::runtime_error& missing) {
        std::cerr << missing.what() << '\n';
        return 69;
    }
    if (options.bugs) return run_bugs(options);
    return options.trace ? run_traced(options, bug->first) : run_many(options, bug->first);
}
