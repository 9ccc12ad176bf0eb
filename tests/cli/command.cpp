// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "command.hpp"

#include <run/processes.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace cli_test {

namespace {

constexpr const char* python = "python3";

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (auto& each : texts)
        result.push_back(each.data());
    result.push_back(nullptr);
    return result;
}

std::vector<std::string> lines_of(const variables& environment) {
    std::vector<std::string> lines;
    for (const auto& [name, value] : environment)
        lines.push_back(name + "=" + value);
    return lines;
}

}  // namespace

started_process::started_process(const words& program, const variables& environment,
                                 int input_file) {
    auto texts = program;
    auto lines = lines_of(environment);
    const auto arguments = pointers(texts);
    const auto variables_now = pointers(lines);
    const std::string out_path = folder_.file("out");
    const std::string err_path = folder_.file("err");
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("cannot fork");
    if (pid_ > 0) {
        ::setpgid(pid_, pid_);
        return;
    }
    ::setpgid(0, 0);
    const int input = input_file >= 0 ? input_file : ::open("/dev/null", O_RDONLY);
    const int out = ::open(out_path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    const int err = ::open(err_path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(input, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    ::close_range(3, ~0U, 0);
    ::execvpe(arguments[0], arguments.data(), variables_now.data());
    ::_exit(127);
}

started_process::~started_process() {
    if (status_) return;
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

std::string started_process::out() const { return read_file(folder_.file("out")); }
std::string started_process::err() const { return read_file(folder_.file("err")); }
void started_process::signal(int number) const { ::kill(pid_, number); }

void started_process::wait_until_asleep() const {
    const auto stat = "/proc/" + std::to_string(pid_) + "/stat";
    const bool sleeps = support::eventually([&] {
        const auto text = read_file(stat);
        const auto name_end = text.rfind(')');
        return name_end != std::string::npos && text.substr(name_end, 3) == ") S";
    });
    if (!sleeps) throw std::runtime_error("the process does not sleep");
}

void started_process::kill_supervisor() const {
    wait_until_asleep();
    signal(SIGKILL);
}

bool started_process::is_running() {
    int status = 0;
    if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
    return !status_;
}

outcome started_process::wait(std::chrono::seconds bound) {
    if (!support::eventually([this] { return !is_running(); }, bound)) {
        throw std::runtime_error("still running; stderr: " + err());
    }
    outcome result{.out = out(), .err = err()};
    if (WIFEXITED(*status_)) result.code = WEXITSTATUS(*status_);
    if (WIFSIGNALED(*status_)) result.signal = WTERMSIG(*status_);
    return result;
}

test_sandbox::test_sandbox(const std::string& url) {
    const char* path = std::getenv("PATH");
    environment_ = {{"PATH", path != nullptr ? path : "/usr/bin:/bin"},
                    {"HOME", folder_.path().string()},
                    {"LC_ALL", "C.UTF-8"},
                    {"TERM", "xterm"},
                    {"PAWL_CONFIG", "/dev/null"}};
    const auto state = folder_.path() / ".local/state/pawl";
    std::filesystem::create_directories(state);
    std::filesystem::permissions(state, std::filesystem::perms(0700));
    environment_["PAWL_URL"] = url.empty() ? "sqlite:" + (state / "locks.db").string() : url;
}

std::unique_ptr<started_process> test_sandbox::start(const words& arguments,
                                                     const variables& more) const {
    auto environment = environment_;
    for (const auto& [name, value] : more)
        environment[name] = value;
    return std::make_unique<started_process>(words{PAWL_COMMAND} + arguments, environment);
}

outcome test_sandbox::run(const words& arguments, const variables& more) const {
    return start(arguments, more)->wait();
}

bool test_sandbox::is_held(const std::string& name) const {
    return run({"status", name}).code == 0;
}

bool test_sandbox::eventually_held(const std::string& name) const {
    return support::eventually([&] { return is_held(name); });
}

std::string read_file(const std::string& path) {
    std::ostringstream content;  // unaffected by a process that ends while /proc is read
    content << std::ifstream(path, std::ios::binary).rdbuf();
    return content.str();
}

std::string from_json(const std::string& text, const std::string& expression) {
    const support::temp_folder folder;
    std::ofstream(folder.file("json")) << text;
    const std::string program = "import json; it = json.load(open('" + folder.file("json") +
                                "')); print(" + expression + ", end='')";
    started_process reader({python, "-c", program},
                           {{"PATH", std::getenv("PATH")}, {"PYTHONUTF8", "1"}});
    const outcome result = reader.wait();
    if (result.code != 0) throw std::runtime_error(result.err + " in: " + text);
    return result.out;
}

words heartbeat(const std::string& file, const std::string& mode) {
    words result{std::filesystem::read_symlink("/proc/self/exe").string(), "--heartbeat", file};
    if (!mode.empty()) result.push_back(mode);
    return result;
}

std::int64_t last_beat(const std::string& file) {
    const std::string bytes = read_file(file);
    std::int64_t when = 0;
    if (bytes.size() >= sizeof when) std::memcpy(&when, bytes.data(), sizeof when);
    return when;
}

std::int64_t boot_time() {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

bool is_beating(const std::string& file) {
    const auto before = last_beat(file);
    return support::eventually([&] { return last_beat(file) > before; });
}

bool eventually_silent(const std::string& file) {
    return support::eventually(
        [&] {
            for (const auto& each : std::filesystem::directory_iterator("/proc")) {
                const std::string arguments = read_file(each.path() / "cmdline");
                if (arguments.find("--heartbeat") != std::string::npos &&
                    arguments.find(file) != std::string::npos &&
                    arguments.find(PAWL_COMMAND) == std::string::npos) {
                    return false;
                }
            }
            return true;
        },
        std::chrono::seconds(20));
}

words operator+(words left, const words& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

pid_t child_named(pid_t parent, const std::string& name) {
    for (const auto& each : pawl::cli::all_processes()) {
        if (each.parent == parent && each.name == name && !each.zombie) return each.pid;
    }
    return 0;
}

bool is_alive(pid_t process) {
    for (const auto& each : pawl::cli::all_processes()) {
        if (each.pid == process) return !each.zombie;
    }
    return false;
}

bool is_stopped(pid_t process) {
    const auto text = read_file("/proc/" + std::to_string(process) + "/stat");
    return text.find(") T ") != std::string::npos;
}

}  // namespace cli_test
