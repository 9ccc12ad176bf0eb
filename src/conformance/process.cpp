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
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe: too many open files?");
    return {ends[0], ends[1]};
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
    std::vector<char*> result;
    for (const std::string& each : words)
        result.push_back(const_cast<char*>(each.c_str()));
    result.push_back(nullptr);
    return result;
}

// Between fork and exec only calls that are safe in the child of a process with threads.
[[noreturn]] void become(const launch& how, char* const* words, char* const* environment, int input,
                         int output, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    if (!how.folder.empty() && ::chdir(how.folder.c_str()) != 0) ::_exit(127);
    ::dup2(input, STDIN_FILENO);
    ::dup2(output, STDOUT_FILENO);
    if (!how.output_file.empty()) ::dup2(output, STDERR_FILENO);
    ::execvpe(words[0], words, environment);
    ::_exit(127);
}

std::vector<std::string> environment_of(const launch& how) {
    // Of two with the same name the first counts.
    std::vector<std::string> result;
    for (const auto& [name, value] : how.environment)
        result.push_back(name + "=" + value);
    for (char** each = environ; *each != nullptr; ++each)
        result.emplace_back(*each);
    return result;
}

}  // namespace

child::child(const launch& how) {
    const std::vector<std::string> environment = environment_of(how);
    const auto words = pointers(how.words);
    const auto variables = pointers(environment);
    const pipe_pair in = make_pipe();
    pipe_pair out;
    if (how.output_file.empty())
        out = make_pipe();
    else
        out.write =
            ::open(how.output_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) become(how, words.data(), variables.data(), in.read, out.write, parent);
    ::close(in.read);
    ::close(out.write);
    to_ = in.write;
    from_ = out.read;
    if (pid_ < 0) throw std::runtime_error("cannot start " + how.words.front() + ": fork failed");
}

child::child(child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      to_(std::exchange(other.to_, -1)),
      from_(std::exchange(other.from_, -1)),
      pending_(std::move(other.pending_)),
      status_(other.status_) {}

child& child::operator=(child&& other) noexcept {
    if (this != &other) {
        kill9();
        close_pipes();
        pid_ = std::exchange(other.pid_, -1);
        to_ = std::exchange(other.to_, -1);
        from_ = std::exchange(other.from_, -1);
        pending_ = std::move(other.pending_);
        status_ = other.status_;
    }
    return *this;
}

child::~child() {
    kill9();
    close_pipes();
}

void child::close_input() noexcept {
    if (to_ >= 0) ::close(std::exchange(to_, -1));
}

void child::close_pipes() noexcept {
    close_input();
    if (from_ >= 0) ::close(std::exchange(from_, -1));
}

bool child::running() { return pid_ > 0 && !wait(0ms); }

void child::send(std::string_view line) {
    const std::string whole = std::string(line) + "\n";
    // A child that has ended is noticed by whoever reads its answer.
    std::signal(SIGPIPE, SIG_IGN);
    [[maybe_unused]] const auto written = ::write(to_, whole.data(), whole.size());
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
        pollfd ready{from_, POLLIN, 0};
        const int answer = ::poll(&ready, 1, static_cast<int>(std::max(left, 0ms).count()));
        if (answer < 0 && errno == EINTR) continue;
        if (answer <= 0) return std::nullopt;
        char some[4096];
        const auto count = ::read(from_, some, sizeof some);
        if (count <= 0) return std::nullopt;
        pending_.append(some, static_cast<std::size_t>(count));
    }
}

void child::signal(int number) {
    if (pid_ > 0 && !status_) ::kill(pid_, number);
}

void child::kill9() {
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

void child::proceed() { signal(SIGCONT); }

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

launch myself_as_helper(std::vector<std::string> words) {
    char path[4096];
    const auto length = ::readlink("/proc/self/exe", path, sizeof path);
    if (length <= 0) throw std::runtime_error("cannot find this program in /proc/self/exe");
    launch how;
    how.words = {std::string(path, static_cast<std::size_t>(length)), "--pawl-helper"};
    how.words.insert(how.words.end(), words.begin(), words.end());
    return how;
}

}  // namespace pawl::conformance
