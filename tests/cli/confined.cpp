// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "confined.hpp"

#include <run/processes.hpp>

#include <unistd.h>

#include <filesystem>
#include <sstream>

namespace cli_test {

words without_cgroups() {
    if (::geteuid() != 0) return {};
    return {"unshare", "--mount", "sh", "-c", "mount -t tmpfs none /sys/fs/cgroup && exec \"$@\"",
            "sh"};
}

words in_a_pid_namespace() {
    words result{"unshare", "--pid", "--fork"};
    if (::geteuid() != 0) result = result + words{"--user", "--map-root-user"};
    // The kernel protects the first process of a PID namespace from signals, so another process is
    // the tested one.
    return result + words{"sh", "-c", "\"$@\"; exit $?", "sh"};
}

words with_boot_clock_ahead(const std::string& seconds) {
    words result{"unshare", "--time", "--boottime", seconds, "--fork"};
    if (::geteuid() != 0) result = result + words{"--user", "--map-root-user"};
    return result;
}

words as_nobody() { return {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"}; }

namespace {

// Of any thread: a main thread that has ended has no arguments.
std::string arguments_of(pid_t process) {
    std::error_code gone;
    const auto threads = "/proc/" + std::to_string(process) + "/task";
    for (const auto& each : std::filesystem::directory_iterator(threads, gone)) {
        std::string arguments = read_file(each.path() / "cmdline");
        if (!arguments.empty()) return arguments;
    }
    return {};
}

}  // namespace

pid_t heartbeat_with_argument(const std::string& argument) {
    const auto program = heartbeat("").front();
    for (const auto& each : pawl::cli::all_processes()) {
        const std::string arguments = arguments_of(each.pid);
        if (arguments.starts_with(program) && arguments.find(argument) != std::string::npos)
            return each.pid;
    }
    return 0;
}

std::string cgroup_of(pid_t process) {
    std::istringstream lines(read_file("/proc/" + std::to_string(process) + "/cgroup"));
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("0::")) return line;
    return {};
}

std::vector<std::string> leftover_cgroups(pid_t pawl) {
    std::vector<std::string> left;
    const std::string own = cgroup_of(::getpid());
    for (const char* root : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
        std::error_code missing;
        const auto folder = root + (own.size() > 3 ? own.substr(3) : std::string("/"));
        for (const auto& each : std::filesystem::directory_iterator(folder, missing)) {
            const auto name = each.path().filename().string();
            if (name.starts_with("pawl-" + std::to_string(pawl) + "-")) left.push_back(name);
        }
    }
    return left;
}

}  // namespace cli_test
