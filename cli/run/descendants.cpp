// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "descendants.hpp"

#include "process_kill.hpp"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>

namespace pawl::cli {

namespace {

constexpr const char* hidden_name = "a hidden process";

std::string folder_of(pid_t pid) { return "/proc/" + std::to_string(pid); }

// The kernel's own list, if it has one. It also contains children that /proc hides from this user.
std::optional<std::vector<pid_t>> listed_children(pid_t root) {
    const auto path = folder_of(root) + "/task/" + std::to_string(root) + "/children";
    if (::access(path.c_str(), R_OK) != 0) return {};
    std::istringstream numbers(content_of(path));
    return std::vector<pid_t>(std::istream_iterator<pid_t>(numbers), {});
}

// Includes zombies and excluded children. Sorted.
std::vector<pid_t> children_of(pid_t root) {
    std::vector<pid_t> children;
    if (auto listed = listed_children(root)) {
        children = std::move(*listed);
    } else {
        for (const process& each : all_processes())
            if (each.parent == root) children.push_back(each.pid);
    }
    std::sort(children.begin(), children.end());
    return children;
}

std::vector<process> living_among(const std::vector<pid_t>& pids, pid_t parent,
                                  const process_predicate& excluded) {
    std::vector<process> living;
    for (const pid_t each : pids) {
        if (auto found_process = read_process(each)) {
            if (!found_process->zombie) living.push_back(std::move(*found_process));
        } else if (::kill(each, 0) == 0 || errno == EPERM) {
            living.push_back({.pid = each, .parent = parent, .name = hidden_name});
        }
    }
    std::erase_if(living, [&](const process& each) { return excluded(each); });
    return living;
}

}  // namespace

// The line NSpid lists the numbers of this process in the namespace of /proc and in those below it,
// down to its own.
bool proc_shows_own_namespace() {
    std::array<char, 32> self{};
    const auto length = ::readlink("/proc/self", self.data(), self.size() - 1);
    if (length <= 0 || std::atoi(self.data()) != ::getpid()) return false;
    std::istringstream lines(content_of("/proc/self/status"));
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("NSpid:")) continue;
        std::istringstream numbers(line.substr(6));
        return std::distance(std::istream_iterator<pid_t>(numbers), {}) == 1;
    }
    return true;  // a kernel without PID namespaces
}

std::vector<process> all_below(pid_t root, const process_predicate& excluded,
                               const std::vector<process>& all) {
    std::multimap<pid_t, const process*> by_parent;
    for (const process& each : all)
        by_parent.emplace(each.parent, &each);
    std::vector<process> result;
    std::vector<pid_t> parents{root};
    while (!parents.empty()) {
        const pid_t parent = parents.back();
        parents.pop_back();
        const auto [first, last] = by_parent.equal_range(parent);
        for (auto each = first; each != last; ++each) {
            const process& child = *each->second;
            if (excluded(child)) continue;
            parents.push_back(child.pid);
            result.push_back(child);
        }
    }
    return result;
}

bool descends_from(pid_t root, const process_predicate& excluded, process each) {
    constexpr int deepest = 1000;
    for (int i = 0; i < deepest && each.pid != root && !excluded(each); ++i) {
        if (each.parent == root) return true;
        auto parent = read_process(each.parent);
        // The children of an ended parent have a new parent.
        if (!parent) parent = read_process(each.pid);
        if (!parent) return false;
        each = std::move(*parent);
    }
    return false;
}

// Each living descendant is below a living child of `root`. A child that ends hands its own
// children over before it is a zombie. So if no child of the first list lives when it is read, and
// the second list has no new child, then nothing lived when the second list began. A chain of
// processes may be one step ahead of each list; reading the youngest processes is fast enough to
// see its end.
std::vector<process> living_descendants(pid_t root, const process_predicate& excluded) {
    auto children = children_of(root);
    while (true) {
        const auto living = living_among(children, root, excluded);
        if (!living.empty()) {
            auto all = all_below(root, excluded, all_processes());
            std::erase_if(all, [](const process& each) { return each.zombie; });
            for (const process& each : living) {
                if (std::none_of(all.begin(), all.end(),
                                 [&](const process& other) { return other.pid == each.pid; }))
                    all.push_back(each);
            }
            return all;
        }
        auto later_children = children_of(root);
        if (std::includes(children.begin(), children.end(), later_children.begin(),
                          later_children.end()))
            return {};
        auto young = youngest_processes(
            [&](const process& each) { return descends_from(root, excluded, each); });
        if (!young.empty()) return young;
        children = std::move(later_children);
    }
}

std::vector<process> living_descendants(pid_t root) {
    return living_descendants(root, [](const process&) { return false; });
}

bool has_variable(pid_t pid, std::string_view name, std::string_view text) {
    std::istringstream variables(content_of(folder_of(pid) + "/environ"));
    for (std::string line; std::getline(variables, line, '\0');) {
        const std::string_view entry = line;
        if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=') &&
            entry.find(text, name.size()) != std::string_view::npos)
            return true;
    }
    return false;
}

}  // namespace pawl::cli
