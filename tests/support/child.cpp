// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "child.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace support {
namespace {

[[noreturn]] void fail(const char* call) {
    throw std::system_error(errno, std::system_category(), call);
}

std::string result_of(const std::function<std::string()>& work) {
    try {
        return work();
    } catch (const std::exception& thrown) {
        return std::string("threw: ") + thrown.what();
    }
}

bool can_start_thread() {
    try {
        std::thread([] {}).join();
        return true;
    } catch (const std::system_error&) {
        return false;
    }
}

// Only files in the temporary folder; with their folders, so that `user` can open them again.
void give_open_files_to(uid_t user) {
    const auto temporary = std::filesystem::temp_directory_path().string();
    for (const auto& open : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code closed;
        const auto path = std::filesystem::read_symlink(open.path(), closed);
        if (closed || !path.string().starts_with(temporary)) continue;
        if (!std::filesystem::is_regular_file(path)) continue;
        for (const auto& each : {path, path.parent_path()})
            if (::chown(each.c_str(), user, static_cast<gid_t>(-1)) != 0) fail("chown");
    }
}

}  // namespace

std::string run_in_child(const std::function<std::string()>& work) {
    std::array<int, 2> pipe_ends{};
    if (::pipe2(pipe_ends.data(), O_CLOEXEC) != 0) fail("pipe2");
    const auto child = ::fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        const auto words = result_of(work);
        [[maybe_unused]] const auto written = ::write(pipe_ends[1], words.data(), words.size());
        ::_exit(0);
    }
    ::close(pipe_ends[1]);
    std::string words;
    std::array<char, 512> buffer{};
    for (;;) {
        const auto count = ::read(pipe_ends[0], buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        words.append(buffer.data(), static_cast<std::size_t>(count));
    }
    ::close(pipe_ends[0]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (!WIFEXITED(status)) return "died of signal " + std::to_string(WTERMSIG(status));
    return words;
}

void forbid_threads() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NPROC, &limit) != 0) fail("getrlimit");
    limit.rlim_cur = 0;
    if (::setrlimit(RLIMIT_NPROC, &limit) != 0) fail("setrlimit");
    constexpr uid_t unused_user = 61'234;
    if (::geteuid() == 0) {
        give_open_files_to(unused_user);
        if (::setresuid(unused_user, unused_user, unused_user) != 0) fail("setresuid");
    }
    if (can_start_thread()) throw std::runtime_error("threads can still be started");
}

void allow_threads() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NPROC, &limit) != 0) fail("getrlimit");
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NPROC, &limit) != 0) fail("setrlimit");
    if (!can_start_thread()) throw std::runtime_error("threads still cannot be started");
}

void forbid_descriptors() {
    const int lowest_free = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (lowest_free < 0) fail("open");
    ::close(lowest_free);
    const auto limit = static_cast<rlim_t>(lowest_free);
    const rlimit lowered{limit, limit};
    if (::setrlimit(RLIMIT_NOFILE, &lowered) != 0) fail("setrlimit");
    if (::open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
        throw std::runtime_error("descriptors can still be opened");
}

std::string blocked_signals() {
    sigset_t blocked{};
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    std::string numbers;
    for (int number = 1; number < 65; ++number)
        if (::sigismember(&blocked, number) == 1) numbers += std::to_string(number) + " ";
    return numbers;
}

}  // namespace support
