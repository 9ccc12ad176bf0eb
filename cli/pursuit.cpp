#include "pursuit.hpp"

#include "descendants.hpp"

#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <set>

namespace pawl::cli {

namespace {

constexpr pid_t first_window = 256;  // what one walk over /proc may be behind
constexpr pid_t window = 32;         // what one look may be behind
constexpr int most_looks = 200;

// The newest number that the kernel gave away in this PID namespace; 0 where that is not known.
pid_t newest_number() {
    int newest = 0;
    const std::string text = content_of("/proc/loadavg");
    return std::sscanf(text.c_str(), "%*s %*s %*s %*s %d", &newest) == 1 ? newest : 0;
}

// /proc lists no threads, but knows them by their numbers, each like a process beside the others.
bool is_thread(pid_t pid) {
    const std::string status = content_of("/proc/" + std::to_string(pid) + "/status");
    return status.find("\nTgid:\t" + std::to_string(pid) + "\n") == std::string::npos;
}

// The youngest first: it is the most likely to live still.
bool look_at(pid_t last, pid_t first, const membership& is_member,
             const std::function<void(const process&)>& use) {
    bool seen = false;
    for (pid_t pid = last; pid >= std::max<pid_t>(first, 2); --pid) {
        const auto each = read_process(pid);
        if (!each || each->zombie || !is_member(*each) || is_thread(pid)) continue;
        use(*each);
        seen = true;
    }
    return seen;
}

}  // namespace

std::vector<pid_t> groups_within(const std::vector<process>& some,
                                 const std::vector<process>& all) {
    std::set<pid_t> members;
    std::set<pid_t> groups;
    for (const process& each : some) {
        members.insert(each.pid);
        // 0 is a group of another PID namespace; kill(-1) would reach every process.
        if (each.group > 1) groups.insert(each.group);
    }
    for (const process& each : all)
        if (!each.zombie && !members.contains(each.pid)) groups.erase(each.group);
    groups.erase(::getpgrp());
    return {groups.begin(), groups.end()};
}

// A group's number stays taken while one of its processes is there, and numbers come round again
// only after all others: the group is that which was seen.
void kill_with_groups(const std::vector<process>& some, const std::vector<process>& all) {
    for (const pid_t group : groups_within(some, all))
        ::kill(-group, SIGKILL);
    for (const process& each : some)
        if (!each.zombie) send_signal(each, SIGKILL);
}

std::vector<process> youngest(const membership& is_member) {
    std::vector<process> result;
    const pid_t newest = newest_number();
    look_at(newest, newest - window, is_member,
            [&](const process& each) { result.push_back(each); });
    return result;
}

// A child has its number before it can be seen. Its parent lives then and is killed by the same
// look, or has ended, and a look after the one that killed it sees the child.
void pursue(const membership& is_member) {
    pid_t behind = first_window;
    for (int look = 0; look < most_looks; ++look) {
        const pid_t newest = newest_number();
        const bool seen = look_at(newest, newest - behind, is_member,
                                  [](const process& each) { send_signal(each, SIGKILL); });
        if (!seen) return;
        behind = window;
    }
}

}  // namespace pawl::cli
