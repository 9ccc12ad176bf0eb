// Runs worlds: many seeds, or one of them again with all that happens in it.
#include "shortage.hpp"
#include "world.hpp"

#include <CLI/CLI.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <iostream>
#include <mutex>
#include <thread>

namespace {

using namespace pawl::simulation;

struct settings {
    std::uint64_t first = 1;
    std::uint64_t seeds = 20'000;
    unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
    std::string bug = "none";
    bool trace = false;
    bool bugs = false;
};

struct totals {
    std::atomic<std::uint64_t> next{0}, done{0}, steps{0}, grants{0}, failures{0};
    std::mutex mutex;
};

void show_progress(const totals& so_far, std::uint64_t all, bool terminal) {
    const auto done = so_far.done.load();
    std::fprintf(stderr, terminal ? "\r  %llu of %llu worlds" : "  %llu of %llu worlds\n",
                 static_cast<unsigned long long>(done), static_cast<unsigned long long>(all));
}

void work(const settings& how, planted bug, totals& so_far) {
    const bool terminal = ::isatty(STDERR_FILENO) == 1;
    const auto every = std::max<std::uint64_t>(terminal ? how.seeds / 100 : how.seeds / 10, 1);
    for (;;) {
        const auto at = so_far.next++;
        if (at >= how.seeds) return;
        const auto found = run_world(how.first + at, bug);
        so_far.steps += found.steps;
        so_far.grants += found.grants;
        const std::lock_guard lock(so_far.mutex);
        if (++so_far.done % every == 0) show_progress(so_far, how.seeds, terminal);
        if (found.violation.empty()) continue;
        ++so_far.failures;
        std::cout << (terminal ? "\n" : "") << "seed " << found.seed << ": " << found.violation
                  << std::endl;
    }
}

int run_many(const settings& how, planted bug) {
    totals all;
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < how.jobs; ++i)
        workers.emplace_back([&] { work(how, bug, all); });
    workers.clear();
    std::cout << '\n'
              << all.done << " worlds, " << all.grants << " grants, " << all.steps << " steps, "
              << all.failures << " violations\n";
    return all.failures == 0 ? 0 : 1;
}

int run_one(const settings& how, planted bug) {
    const auto found =
        run_world(how.first, bug, [](const std::string& line) { std::cout << line << '\n'; });
    std::cout << "seed " << found.seed << ", trace " << std::hex << found.hash << std::dec << ", "
              << found.events
              << " events: " << (found.violation.empty() ? "no violation" : found.violation)
              << '\n';
    return found.violation.empty() ? 0 : 1;
}

// How many seeds each planted bug lives through, and what gives it away.
bool is_found_in_a_child(const settings& how, planted bug) {
    std::fflush(stdout);
    const auto child = ::fork();
    if (child == 0) {
        for (std::uint64_t at = 0; at < how.seeds; ++at)
            if (!run_world(how.first + at, bug).violation.empty()) std::_Exit(1);
        std::_Exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status != 0;
}

int run_bugs(const settings& how) {
    int missed = 0;
    for (const auto& [bug, name] : planted_names) {
        if (bug == planted::none) continue;
        if (kills(bug)) {
            std::printf("%-30s ", std::string(name).c_str());
            const bool dies = is_found_in_a_child(how, bug);
            if (!dies) std::printf("MISSED\n");
            missed += !dies;
            continue;
        }
        std::string found;
        std::uint64_t at = 0;
        for (; at < how.seeds && found.empty(); ++at)
            found = run_world(how.first + at, bug).violation;
        missed += found.empty();
        std::printf("%-30s %6llu  %s\n", std::string(name).c_str(),
                    static_cast<unsigned long long>(at), found.empty() ? "MISSED" : found.c_str());
        std::fflush(stdout);
    }
    return missed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    settings how;
    CLI::App app("Simulated worlds of Pawl: programs, users, a server, and what can go wrong.");
    app.add_option("--seed", how.first, "the first seed")->capture_default_str();
    app.add_option("--seeds", how.seeds, "how many")->capture_default_str();
    app.add_option("--jobs", how.jobs, "at a time")->capture_default_str();
    app.add_option("--bug", how.bug, "plant one of the bugs of planted.hpp");
    app.add_flag("--trace", how.trace, "show all that happens in the first seed's world");
    app.add_flag("--bugs", how.bugs, "plant each bug in turn, and say how many seeds find it");
    CLI11_PARSE(app, argc, argv);
    tell_of_deaths();
    const auto bug =
        std::ranges::find(planted_names, how.bug, &std::pair<planted, std::string_view>::second);
    if (bug == planted_names.end()) {
        std::cerr << "There is no bug '" << how.bug << "'; see tests/simulation/planted.hpp.\n";
        return 64;
    }
    if (how.bugs) return run_bugs(how);
    return how.trace ? run_one(how, bug->first) : run_many(how, bug->first);
}
