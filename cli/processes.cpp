#include "processes.hpp"

#include "failure.hpp"

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

thread_local std::uint64_t refused = 0;

// Behind a failed open. A process that is gone is an answer.
void note_refusal() noexcept {
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) ++refused;
}

// /proc/PID/stat: "pid (name) state ppid pgrp …"; the name may hold anything, also brackets and
// spaces. A main thread that has ended is in state Z while the other threads run on. Where one of
// those calls exec, it takes over the number, and the one that had it is seen without threads, or
// in state X, for an instant: that is no answer.
std::optional<process> parse(pid_t pid, const std::string& text) {
    const auto open = text.find('(');
    const auto close = text.rfind(')');
    if (open == std::string::npos || close == std::string::npos || close < open) return {};
    process found{.pid = pid, .name = text.substr(open + 1, close - open - 1)};
    char state = 0;
    int threads = 0;
    unsigned long long started = 0;
    if (std::sscanf(text.c_str() + close + 1,
                    " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d %*d %llu",
                    &state, &found.parent, &found.group, &threads, &started) != 5)
        return {};
    if (state == 'X' || threads < 1) return {};
    found.zombie = state == 'Z' && threads == 1;
    found.started = started;
    return found;
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

[[noreturn]] void become(const command_line& what, char* const* arguments, pid_t parent,
                         int failed) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(static_cast<int>(exit_code::system));
    // Before exec, so that the command never finds itself in the background; SIGTTOU is still
    // blocked.
    if (what.terminal >= 0) ::tcsetpgrp(what.terminal, ::getpid());
    ::sigprocmask(SIG_SETMASK, &what.signals, nullptr);
    ::execvp(arguments[0], arguments);
    const int problem = errno;
    [[maybe_unused]] const auto written = ::write(failed, &problem, sizeof problem);
    ::_exit(static_cast<int>(exit_code::not_found));
}

// As fork, but born in a cgroup: to move there later would wait for a grace period of the kernel.
pid_t fork_into(int cgroup) {
    clone_args how{};
    how.flags = CLONE_INTO_CGROUP;
    how.exit_signal = SIGCHLD;
    how.cgroup = static_cast<std::uint64_t>(cgroup);
    return static_cast<pid_t>(::syscall(SYS_clone3, &how, sizeof how));
}

}  // namespace

std::uint64_t refused_looks() noexcept { return refused; }

std::string content_of(const std::string& path) {
    const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) note_refusal();
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t size = 0; file && (size = ::read(file.get(), part.data(), part.size())) > 0;)
        text.append(part.data(), static_cast<std::size_t>(size));
    return text;
}

// Again where one task gave the number to another meanwhile; such an instant does not come back
// often.
std::optional<process> read_process(pid_t pid) {
    const std::string path = "/proc/" + std::to_string(pid) + "/stat";
    for (int i = 0; i < most_reads; ++i) {
        const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        if (!file) {
            note_refusal();
            return {};
        }
        std::array<char, 512> text{};
        const auto size = ::read(file.get(), text.data(), text.size());
        if (size <= 0) continue;
        if (auto seen = parse(pid, std::string(text.data(), static_cast<std::size_t>(size))))
            return seen;
    }
    return {};
}

std::vector<process> all_processes() {
    std::vector<process> found;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), &::closedir);
    if (!folder) note_refusal();
    while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
        const std::string_view name = entry->d_name;
        pid_t pid = 0;
        const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (problem != std::errc{} || end != name.data() + name.size()) continue;
        if (auto each = read_process(pid)) found.push_back(std::move(*each));
    }
    return found;
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

start_result start_command(const command_line& what) {
    const auto arguments = pointers(what.arguments);
    auto variables = pointers(what.environment);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw system_failure("Cannot make a pipe");
    const descriptor reading(ends[0]);
    descriptor writing(ends[1]);

    const pid_t parent = ::getpid();
    pid_t child = what.cgroup >= 0 ? fork_into(what.cgroup) : -1;
    const bool in_cgroup = child >= 0;
    if (!in_cgroup) child = ::fork();
    if (child < 0) throw system_failure("Cannot start a process");
    if (child == 0) {
        environ = variables.data();
        become(what, arguments.data(), parent, writing.get());
    }
    // In both processes, so that neither depends on who runs first.
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
