#include "descendants.hpp"

#include <sys/syscall.h>
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

// The kernel's own list, if it has one: it also shows children that /proc hides from this user.
std::optional<std::vector<pid_t>> listed_children(pid_t root) {
    const auto path = folder_of(root) + "/task/" + std::to_string(root) + "/children";
    if (::access(path.c_str(), R_OK) != 0) return {};
    std::istringstream numbers(content_of(path));
    return std::vector<pid_t>(std::istream_iterator<pid_t>(numbers), {});
}

// With the zombies and the spared, sorted.
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
                                  const membership& spared) {
    std::vector<process> living;
    for (const pid_t each : pids) {
        if (auto known = read_process(each)) {
            if (!known->zombie) living.push_back(std::move(*known));
        } else if (::kill(each, 0) == 0 || errno == EPERM) {
            living.push_back({.pid = each, .parent = parent, .name = hidden_name});
        }
    }
    std::erase_if(living, [&](const process& each) { return spared(each); });
    return living;
}

}  // namespace

// The numbers of this process in the namespace of /proc and in those below it, down to its own.
bool proc_is_ours() {
    std::array<char, 32> self{};
    const auto length = ::readlink("/proc/self", self.data(), self.size() - 1);
    if (length <= 0 || std::atoi(self.data()) != ::getpid()) return false;
    std::istringstream lines(content_of("/proc/self/status"));
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("NSpid:")) continue;
        std::istringstream numbers(line.substr(6));
        return std::distance(std::istream_iterator<pid_t>(numbers), {}) == 1;
    }
    return true;  // a kernel without namespaces
}

std::vector<process> all_below(pid_t root, const membership& spared,
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
            if (spared(child)) continue;
            parents.push_back(child.pid);
            result.push_back(child);
        }
    }
    return result;
}

bool descends_from(pid_t root, const membership& spared, process each) {
    constexpr int deepest = 1000;
    for (int i = 0; i < deepest && each.pid != root && !spared(each); ++i) {
        if (each.parent == root) return true;
        auto parent = read_process(each.parent);
        // A parent that ended has handed its children over.
        if (!parent) parent = read_process(each.pid);
        if (!parent) return false;
        each = std::move(*parent);
    }
    return false;
}

// A descendant that lives is below a living child of `root`, and a child that ends hands its own
// children over before it is a zombie. So, if no child of the first list lives when it is looked at
// and the second list has no other, nothing lived when the second list began. A chain of processes
// may be a step ahead of each list; a look at the youngest is fast enough to see its end.
std::vector<process> living_descendants(pid_t root, const membership& spared) {
    auto children = children_of(root);
    while (true) {
        const auto living = living_among(children, root, spared);
        if (!living.empty()) {
            auto all = all_below(root, spared, all_processes());
            std::erase_if(all, [](const process& each) { return each.zombie; });
            for (const process& each : living) {
                if (std::none_of(all.begin(), all.end(),
                                 [&](const process& other) { return other.pid == each.pid; }))
                    all.push_back(each);
            }
            return all;
        }
        auto again = children_of(root);
        if (std::includes(children.begin(), children.end(), again.begin(), again.end())) return {};
        auto young =
            youngest([&](const process& each) { return descends_from(root, spared, each); });
        if (!young.empty()) return young;
        children = std::move(again);
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

signal_result send_signal(const process& to, int signal) noexcept {
    const auto result = [](long returned) {
        if (returned == 0) return signal_result::sent;
        return errno == EPERM ? signal_result::not_permitted : signal_result::gone;
    };
    const descriptor same(static_cast<int>(::syscall(SYS_pidfd_open, to.pid, 0)));
    if (!same && errno == ESRCH) return signal_result::gone;
    // Opened or not: what has the number now must be what was seen.
    if (to.started != 0) {
        const auto now = read_process(to.pid);
        if (!now || now->started != to.started) return signal_result::gone;
    }
    if (!same) return result(::kill(to.pid, signal));
    return result(::syscall(SYS_pidfd_send_signal, same.get(), signal, nullptr, 0));
}

}  // namespace pawl::cli
