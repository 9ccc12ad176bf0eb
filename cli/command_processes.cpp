#include "command_processes.hpp"

#include "pursuit.hpp"

#include <cerrno>
#include <csignal>
#include <utility>

namespace pawl::cli {

void command_processes::begin(pid_t leader, control_group cgroup) {
    leader_ = leader;
    cgroup_ = std::move(cgroup);
    sees_proc_ = proc_is_ours();  // while files can be opened
}

bool command_processes::sees_proc() const {
    if (!sees_proc_) sees_proc_ = proc_is_ours();
    return *sees_proc_;
}

bool command_processes::blind() const { return !cgroup_ && !sees_proc(); }

std::optional<std::vector<process>> command_processes::living() const {
    const auto refused = refused_looks();
    auto seen = sees_proc() ? living_descendants(supervisor_, not_of_the_command()) : numbers();
    if (refused_looks() != refused) return {};
    return seen;
}

membership command_processes::not_of_the_command() const {
    return [this](const process& each) {
        return each.pid == keeper_ || (leader_ended_ && each.pid == leader_) ||
               inherited_.contains(each);
    };
}

// What is known without /proc.
std::vector<process> command_processes::numbers() const {
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

// The group first, and at once: a member that forks meanwhile does not escape.
std::vector<process> command_processes::signal(int number) const {
    if (number == SIGKILL) kill();
    const bool group_allowed = signal_group(number);
    std::vector<process> refused;
    for (const process& each : living().value_or(std::vector<process>())) {
        const bool in_group = each.group == leader_;
        const auto result =
            blind() ? (group_allowed ? signal_result::sent : signal_result::not_permitted)
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
    const auto spared = not_of_the_command();
    kill_with_groups(all_below(supervisor_, spared, all), all);
    pursue([&](const process& each) { return descends_from(supervisor_, spared, each); });
}

}  // namespace pawl::cli
