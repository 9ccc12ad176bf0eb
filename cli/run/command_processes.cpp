// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "command_processes.hpp"

#include "process_kill.hpp"

#include <cerrno>
#include <csignal>
#include <utility>

namespace pawl::cli {

void command_processes::set_leader(pid_t leader, control_group cgroup) {
    leader_ = leader;
    cgroup_ = std::move(cgroup);
    sees_proc_ = proc_shows_own_namespace();  // early, while files can be opened
}

bool command_processes::sees_proc() const {
    if (!sees_proc_) sees_proc_ = proc_shows_own_namespace();
    return *sees_proc_;
}

bool command_processes::sees_only_group() const { return !cgroup_ && !sees_proc(); }

std::optional<std::vector<process>> command_processes::living() const {
    const auto failed_before = failed_proc_reads();
    auto processes =
        sees_proc() ? living_descendants(supervisor_, excluded_processes()) : living_without_proc();
    if (failed_proc_reads() != failed_before) return {};
    return processes;
}

process_predicate command_processes::excluded_processes() const {
    return [this](const process& each) {
        return each.pid == lock_process_ || (leader_ended_ && each.pid == leader_) ||
               inherited_children_.contains(each);
    };
}

// The processes that are known without /proc.
std::vector<process> command_processes::living_without_proc() const {
    std::vector<process> living;
    for (const pid_t each : cgroup_ ? cgroup_.members() : std::vector<pid_t>{})
        living.push_back({.pid = each, .group = ::getpgid(each), .name = "process"});
    if (!cgroup_ && leader_ > 0 && (::kill(-leader_, 0) == 0 || errno == EPERM))
        living.push_back({.pid = leader_, .group = leader_, .name = "process group"});
    return living;
}

bool command_processes::signal_group(int number) const noexcept {
    return leader_ <= 0 || ::kill(-leader_, number) == 0 || errno != EPERM;
}

// The group is signalled first, as a whole: a member that forks meanwhile does not escape. Each of
// its processes then gets signal 0, which only checks the permission.
std::vector<process> command_processes::signal(int number) const {
    if (number == SIGKILL) kill();
    const bool group_allowed = signal_group(number);
    std::vector<process> refused;
    for (const process& each : living().value_or(std::vector<process>())) {
        const bool in_group = each.group == leader_;
        const auto result =
            sees_only_group() ? (group_allowed ? signal_result::sent : signal_result::not_permitted)
                              : send_signal(each, in_group ? 0 : number);
        if (result == signal_result::not_permitted) refused.push_back(each);
    }
    return refused;
}

void command_processes::kill() const {
    if (cgroup_) cgroup_.kill();
    signal_group(SIGKILL);
    if (!sees_proc()) return;
    const auto all = all_processes();
    const auto excluded = excluded_processes();
    kill_with_groups(all_below(supervisor_, excluded, all), all);
    kill_until_gone(
        [&](const process& each) { return descends_from(supervisor_, excluded, each); });
}

}  // namespace pawl::cli
