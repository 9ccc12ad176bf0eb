// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The tests, or a child process for them: `--heartbeat FILE [MODE]` writes CLOCK_BOOTTIME into FILE
// again and again. The modes: stubborn ignores SIGTERM. pair is two processes; the parent ends at
// SIGTERM, and the child is stubborn. away leaves its process group, and its parent then ends.
// headless is a stubborn thread whose main thread has ended. runner continues in a new process
// after each heartbeat, and the old one ends. hopper is a runner that starts a new session each
// time.
#include "command.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#include <array>
#include <string_view>
#include <thread>

namespace {

[[noreturn]] void beat(const char* path) {
    const int file = ::open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    while (true) {
        const std::int64_t now = cli_test::boot_time();
        if (::pwrite(file, &now, sizeof now, 0) != sizeof now) ::_exit(1);
        ::poll(nullptr, 0, 1);  // the interval of the heartbeats
    }
}

[[noreturn]] void run_from_process_to_process(const char* path, bool leaves_group) {
    ::signal(SIGCHLD, SIG_IGN);
    const int file = ::open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    constexpr std::int64_t longest = 30'000'000'000;  // a limit in case nothing stops it
    const auto until = cli_test::boot_time() + longest;
    while (true) {
        const std::int64_t now = cli_test::boot_time();
        if (now > until || ::pwrite(file, &now, sizeof now, 0) != sizeof now) ::_exit(1);
        ::poll(nullptr, 0, 2);  // the interval of the heartbeats
        if (::fork() != 0) ::_exit(0);
        if (leaves_group) ::setsid();
    }
}

[[noreturn]] void run_heartbeat(const char* path, std::string_view mode) {
    if (mode == "stubborn") ::signal(SIGTERM, SIG_IGN);
    if (mode == "runner" || mode == "hopper") run_from_process_to_process(path, mode == "hopper");
    if (mode == "headless") {
        ::signal(SIGTERM, SIG_IGN);
        std::thread([path] { beat(path); }).detach();
        ::pthread_exit(nullptr);
    }
    if (mode == "pair") {
        if (::fork() != 0) {
            while (true)
                ::pause();
        }
        ::signal(SIGTERM, SIG_IGN);
    }
    if (mode == "away") {
        // The parent ends after the child has left the group: pawl stops what its command leaves in
        // the group.
        std::array<int, 2> left{};
        if (::pipe(left.data()) != 0) ::_exit(1);
        if (::fork() != 0) {
            char nothing = 0;
            ::close(left[1]);
            ::_exit(::read(left[0], &nothing, 1) == 0 ? 0 : 1);
        }
        ::setsid();
        ::close(left[0]);
        ::close(left[1]);
    }
    beat(path);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc >= 3 && std::string_view(argv[1]) == "--heartbeat") {
        run_heartbeat(argv[2], argc > 3 ? argv[3] : "");
    }
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
