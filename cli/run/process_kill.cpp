// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "process_kill.hpp"

#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <functional>
#include <set>

namespace pawl::cli {

namespace {

// How many of the newest process numbers the first round reads: as many as may be new since the
// last walk over /proc.
constexpr pid_t first_scan_width = 256;
// The same for the later rounds: as many as may be new since the last round.
constexpr pid_t scan_width = 32;
constexpr int most_kill_rounds = 200;

// The newest process number of this PID namespace, or 0 if it is not known.
pid_t newest_number() {
    int newest = 0;
    const std::string text = content_of("/proc/loadavg");
    return std::sscanf(text.c_str(), "%*s %*s %*s %*s %d", &newest) == 1 ? newest : 0;
}

// /proc does not list threads, but each thread can be read under its number, like a process.
bool is_thread(pid_t pid) {
    const std::string status = content_of("/proc/" + std::to_string(pid) + "/status");
    return status.find("\nTgid:\t" + std::to_string(pid) + "\n") == std::string::npos;
}

// Begins with the youngest process, which is the most likely to live. Returns false if there was no
// process to visit.
bool visit_living(pid_t last, pid_t first, const process_predicate& is_wanted,
                  const std::function<void(const process&)>& use) {
    bool found_any = false;
    for (pid_t pid = last; pid >= std::max<pid_t>(first, 2); --pid) {
        const auto each = read_process(pid);
        if (!each || each->zombie || !is_wanted(*each) || is_thread(pid)) continue;
        use(*each);
        found_any = true;
    }
    return found_any;
}

}  // namespace

std::vector<pid_t> groups_within(const std::vector<process>& targets,
                                 const std::vector<process>& all) {
    std::set<pid_t> target_pids;
    std::set<pid_t> groups;
    for (const process& each : targets) {
        target_pids.insert(each.pid);
        // 0 is a group of another PID namespace; kill(-1) would reach every process.
        if (each.group > 1) groups.insert(each.group);
    }
    for (const process& each : all)
        if (!each.zombie && !target_pids.contains(each.pid)) groups.erase(each.group);
    groups.erase(::getpgrp());
    return {groups.begin(), groups.end()};
}

// The number of a group is not reused while one of its processes exists, and numbers are reused
// only after all others. So this is the group that was seen.
void kill_with_groups(const std::vector<process>& targets, const std::vector<process>& all) {
    for (const pid_t group : groups_within(targets, all))
        ::kill(-group, SIGKILL);
    for (const process& each : targets)
        if (!each.zombie) send_signal(each, SIGKILL);
}

std::vector<process> youngest_processes(const process_predicate& is_wanted) {
    std::vector<process> result;
    const pid_t newest = newest_number();
    visit_living(newest, newest - scan_width, is_wanted,
                 [&](const process& each) { result.push_back(each); });
    return result;
}

// A child has its number before it can be seen. If its parent still lives, this round kills the
// parent. If the parent has ended, the next round sees the child. But a round that finds no process
// is the last one, so it can miss such a child: the caller repeats.
void kill_until_gone(const process_predicate& belongs_to_command) {
    pid_t width = first_scan_width;
    for (int round = 0; round < most_kill_rounds; ++round) {
        const pid_t newest = newest_number();
        const bool found_any =
            visit_living(newest, newest - width, belongs_to_command,
                         [](const process& each) { send_signal(each, SIGKILL); });
        if (!found_any) return;
        width = scan_width;
    }
}

}  // namespace pawl::cli
