// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "process.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>

namespace pawl::conformance {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

struct pipe_pair {
    int read = -1;
    int write = -1;
};

pipe_pair make_pipe() {
    int descriptors[2];
    if (::pipe2(descriptors, O_CLOEXEC) != 0)
        throw std::runtime_error("no pipe: too many open files?");
    return {descriptors[0], descriptors[1]};
}

std::vector<char*> pointers_to(const std::vector<std::string>& arguments) {
    std::vector<char*> result;
    for (const std::string& each : arguments)
        result.push_back(const_cast<char*>(each.c_str()));
    result.push_back(nullptr);
    return result;
}

// Between fork and exec only calls that are safe in the child of a process with threads.
[[noreturn]] void execute_program(const launch_options& options, char* const* arguments,
                                  char* const* environment, int input, int output, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    if (!options.folder.empty() && ::chdir(options.folder.c_str()) != 0) ::_exit(127);
    ::dup2(input, STDIN_FILENO);
    ::dup2(output, STDOUT_FILENO);
    if (!options.output_file.empty()) ::dup2(output, STDERR_FILENO);
    ::execvpe(arguments[0], arguments, environment);
    ::_exit(127);
}

std::vector<std::string> environment_of(const launch_options& options) {
    // Of two variables with the same name the first counts.
    std::vector<std::string> result;
    for (const auto& [name, value] : options.environment)
        result.push_back(name + "=" + value);
    for (char** each = environ; *each != nullptr; ++each)
        result.emplace_back(*each);
    return result;
}

}  // namespace

child::child(const launch_options& options) {
    const std::vector<std::string> environment = environment_of(options);
    const auto arguments = pointers_to(options.arguments);
    const auto variables = pointers_to(environment);
    const pipe_pair input_pipe = make_pipe();
    pipe_pair output_pipe;
    if (options.output_file.empty())
        output_pipe = make_pipe();
    else
        output_pipe.write =
            ::open(options.output_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0)
        execute_program(options, arguments.data(), variables.data(), input_pipe.read,
                        output_pipe.write, parent);
    ::close(input_pipe.read);
    ::close(output_pipe.write);
    input_pipe_ = input_pipe.write;
    output_pipe_ = output_pipe.read;
    if (pid_ < 0)
        throw std::runtime_error("cannot start " + options.arguments.front() + ": fork failed");
}

child::child(child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_pipe_(std::exchange(other.input_pipe_, -1)),
      output_pipe_(std::exchange(other.output_pipe_, -1)),
      pending_(std::move(other.pending_)),
      status_(other.status_) {}

child& child::operator=(child&& other) noexcept {
    if (this != &other) {
        kill_and_reap();
        close_pipes();
        pid_ = std::exchange(other.pid_, -1);
        input_pipe_ = std::exchange(other.input_pipe_, -1);
        output_pipe_ = std::exchange(other.output_pipe_, -1);
        pending_ = std::move(other.pending_);
        status_ = other.status_;
    }
    return *this;
}

child::~child() {
    kill_and_reap();
    close_pipes();
}

void child::close_input() noexcept {
    if (input_pipe_ >= 0) ::close(std::exchange(input_pipe_, -1));
}

void child::close_pipes() noexcept {
    close_input();
    if (output_pipe_ >= 0) ::close(std::exchange(output_pipe_, -1));
}

bool child::is_running() { return pid_ > 0 && !wait(0ms); }

void child::send(std::string_view line) {
    const std::string line_with_end = std::string(line) + "\n";
    // A child that has ended is noticed when its reply is read.
    std::signal(SIGPIPE, SIG_IGN);
    [[maybe_unused]] const auto written =
        ::write(input_pipe_, line_with_end.data(), line_with_end.size());
}

std::optional<std::string> child::read_line(std::chrono::milliseconds bound) {
    const auto give_up_at = clock::now() + bound;
    for (;;) {
        if (const auto end = pending_.find('\n'); end != std::string::npos) {
            std::string line = pending_.substr(0, end);
            pending_.erase(0, end + 1);
            return line;
        }
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(give_up_at - clock::now());
        pollfd ready{output_pipe_, POLLIN, 0};
        const int poll_result = ::poll(&ready, 1, static_cast<int>(std::max(left, 0ms).count()));
        if (poll_result < 0 && errno == EINTR) continue;
        if (poll_result <= 0) return std::nullopt;
        char chunk[4096];
        const auto count = ::read(output_pipe_, chunk, sizeof chunk);
        if (count <= 0) return std::nullopt;
        pending_.append(chunk, static_cast<std::size_t>(count));
    }
}

void child::signal(int number) {
    if (pid_ > 0 && !status_) ::kill(pid_, number);
}

void child::kill_and_reap() {
    if (pid_ <= 0 || status_) return;
    ::kill(pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {}
    status_ = status;
}

void child::stop() {
    signal(SIGSTOP);
    int status = 0;
    while (::waitpid(pid_, &status, WUNTRACED) < 0 && errno == EINTR) {}
    if (!WIFSTOPPED(status)) status_ = status;
}

void child::resume() { signal(SIGCONT); }

std::optional<int> child::wait(std::chrono::milliseconds bound) {
    const auto give_up_at = clock::now() + bound;
    while (pid_ > 0 && !status_) {
        int status = 0;
        if (::waitpid(pid_, &status, WNOHANG) == pid_)
            status_ = status;
        else if (clock::now() >= give_up_at)
            break;
        else
            std::this_thread::sleep_for(1ms);
    }
    return status_;
}

launch_options launch_as_helper(std::vector<std::string> arguments) {
    char path[4096];
    const auto length = ::readlink("/proc/self/exe", path, sizeof path);
    if (length <= 0) throw std::runtime_error("cannot find this program in /proc/self/exe");
    launch_options options;
    options.arguments = {std::string(path, static_cast<std::size_t>(length)), "--pawl-helper"};
    options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
    return options;
}

}  // namespace pawl::conformance
