// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "processes.hpp"

#include "../ui/failure.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string_view>

namespace pawl::cli {

namespace {

constexpr int most_reads = 100;

thread_local std::uint64_t failed_reads = 0;

// Called after a failed open. If the process has ended, the read counts as successful.
void note_failed_read() noexcept {
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) ++failed_reads;
}

// /proc/PID/stat: "pid (name) state ppid pgrp …". The name may contain any character, including
// brackets and spaces. A main thread that has ended has state Z while other threads run. If one of
// those threads calls exec, it takes over the number. For an instant the process then has no
// threads or state X, and the read is repeated.
std::optional<process> parse_stat(pid_t pid, const std::string& text) {
    const auto open = text.find('(');
    const auto close = text.rfind(')');
    if (open == std::string::npos || close == std::string::npos || close < open) return {};
    process result{.pid = pid, .name = text.substr(open + 1, close - open - 1)};
    char state = 0;
    int threads = 0;
    unsigned long long started = 0;
    if (std::sscanf(text.c_str() + close + 1,
                    " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d %*d %llu",
                    &state, &result.parent, &result.group, &threads, &started) != 5)
        return {};
    if (state == 'X' || threads < 1) return {};
    result.zombie = state == 'Z' && threads == 1;
    result.started = started;
    return result;
}

std::string_view name_of(std::string_view line) { return line.substr(0, line.find('=')); }

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> result;
    result.reserve(texts.size() + 1);
    for (const std::string& each : texts)
        result.push_back(const_cast<char*>(each.c_str()));
    result.push_back(nullptr);
    return result;
}

[[noreturn]] void exec_command(const command_spec& command, char* const* arguments, pid_t parent,
                               int error_pipe) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(static_cast<int>(exit_code::system));
    // The group gets the terminal before exec, so that the command never finds itself in the
    // background. SIGTTOU is still blocked.
    if (command.terminal >= 0) ::tcsetpgrp(command.terminal, ::getpid());
    ::sigprocmask(SIG_SETMASK, &command.signals, nullptr);
    ::execvp(arguments[0], arguments);
    const int problem = errno;
    [[maybe_unused]] const auto written = ::write(error_pipe, &problem, sizeof problem);
    ::_exit(static_cast<int>(exit_code::not_found));
}

// As fork, but the child is born in the cgroup. Moving it later would wait for a grace period of
// the kernel.
pid_t fork_into(int cgroup) {
    clone_args clone_options{};
    clone_options.flags = CLONE_INTO_CGROUP;
    clone_options.exit_signal = SIGCHLD;
    clone_options.cgroup = static_cast<std::uint64_t>(cgroup);
    return static_cast<pid_t>(::syscall(SYS_clone3, &clone_options, sizeof clone_options));
}

}  // namespace

std::uint64_t failed_proc_reads() noexcept { return failed_reads; }

std::string content_of(const std::string& path) {
    const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) note_failed_read();
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t size = 0; file && (size = ::read(file.get(), part.data(), part.size())) > 0;)
        text.append(part.data(), static_cast<std::size_t>(size));
    return text;
}

// Reads again if a thread took over the number at that instant, which is rare.
std::optional<process> read_process(pid_t pid) {
    const std::string path = "/proc/" + std::to_string(pid) + "/stat";
    for (int i = 0; i < most_reads; ++i) {
        const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        if (!file) {
            note_failed_read();
            return {};
        }
        std::array<char, 512> text{};
        const auto size = ::read(file.get(), text.data(), text.size());
        if (size <= 0) continue;
        if (auto result = parse_stat(pid, std::string(text.data(), static_cast<std::size_t>(size))))
            return result;
    }
    return {};
}

std::vector<process> all_processes() {
    std::vector<process> result;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), &::closedir);
    if (!folder) note_failed_read();
    while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
        const std::string_view name = entry->d_name;
        pid_t pid = 0;
        const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (problem != std::errc{} || end != name.data() + name.size()) continue;
        if (auto each = read_process(pid)) result.push_back(std::move(*each));
    }
    return result;
}

signal_result send_signal(const process& target, int signal) noexcept {
    const auto result = [](long returned) {
        if (returned == 0) return signal_result::sent;
        return errno == EPERM ? signal_result::not_permitted : signal_result::gone;
    };
    const descriptor process_fd(static_cast<int>(::syscall(SYS_pidfd_open, target.pid, 0)));
    if (!process_fd && errno == ESRCH) return signal_result::gone;
    // With or without a pidfd, the process that has the number now must be the process that was
    // seen.
    if (target.started != 0) {
        const auto now = read_process(target.pid);
        if (!now || now->started != target.started) return signal_result::gone;
    }
    if (!process_fd) return result(::kill(target.pid, signal));
    return result(::syscall(SYS_pidfd_send_signal, process_fd.get(), signal, nullptr, 0));
}

std::vector<std::string> environment_with(const std::vector<std::string>& removed,
                                          const std::vector<std::string>& added) {
    std::vector<std::string> result;
    for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
        const auto name = name_of(*each);
        const bool replaced = std::any_of(added.begin(), added.end(), [&](const std::string& line) {
            return name_of(line) == name;
        });
        if (replaced || std::find(removed.begin(), removed.end(), name) != removed.end()) continue;
        result.emplace_back(*each);
    }
    result.insert(result.end(), added.begin(), added.end());
    return result;
}

std::vector<std::string> variables_beginning_with(std::string_view prefix) {
    std::vector<std::string> result;
    for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
        const auto name = name_of(*each);
        if (name.starts_with(prefix)) result.emplace_back(name);
    }
    return result;
}

start_result start_command(const command_spec& command) {
    const auto arguments = pointers(command.arguments);
    auto variables = pointers(command.environment);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw system_failure("Cannot make a pipe");
    const descriptor reading(ends[0]);
    descriptor writing(ends[1]);

    const pid_t parent = ::getpid();
    pid_t child = command.cgroup >= 0 ? fork_into(command.cgroup) : -1;
    const bool in_cgroup = child >= 0;
    if (!in_cgroup) child = ::fork();
    if (child < 0) throw system_failure("Cannot start a process");
    if (child == 0) {
        environ = variables.data();
        exec_command(command, arguments.data(), parent, writing.get());
    }
    // Called in both processes, so that the order in which they run does not matter.
    ::setpgid(child, child);
    writing.reset();

    start_result result{.pid = child, .error = 0, .in_cgroup = in_cgroup};
    ssize_t size = 0;
    do {
        size = ::read(reading.get(), &result.error, sizeof result.error);
    } while (size < 0 && errno == EINTR);
    if (size <= 0) return result;
    ::waitpid(child, nullptr, 0);
    return result;
}

}  // namespace pawl::cli
