// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A disk without room: a try fails at once, a wait is served when there is room.
#include "lock_file_fixture.hpp"
#include "support/eventually.hpp"

#include <pawl/blocking/client.hpp>

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <string_view>

namespace backend_tests {
namespace {

namespace fs = std::filesystem;
using pawl::errc;
using support::eventually;

class small_disk {
public:
    explicit small_disk(std::string at) : at_(std::move(at)) {}

    // In a process of its own.
    [[nodiscard]] bool mount() const {
        const bool root = ::geteuid() == 0;
        return ::unshare(root ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) == 0 &&
               ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               ::mount("none", at_.c_str(), "tmpfs", 0, "size=400k") == 0;
    }
    [[nodiscard]] std::string lock_file() const { return at_ + "/locks.db"; }
    void fill() const {
        std::ofstream more(at_ + "/fill", std::ios::binary | std::ios::app);
        const std::array<char, 1024> block{};
        while (more.write(block.data(), block.size()).flush()) {}
    }
    void free_space() const { fs::remove(at_ + "/fill"); }

private:
    std::string at_;
};

using body = int (*)(const small_disk&);

// 0: as expected; otherwise the number of the failed step.
void on_a_small_disk(body steps) {
    const support::temp_folder folder;
    const auto inside = folder.file("small");
    fs::create_directory(inside);
    constexpr int no_disk = 99;
    const int result = run_in_child([&] {
        const small_disk disk(inside);
        if (!disk.mount()) return no_disk;
        try {
            return steps(disk);
        } catch (const std::exception& failed) {
            std::cerr << failed.what() << std::endl;
            return 98;
        }
    });
    if (result == no_disk)
        return report_not_run("this user may not mount anything, not even in a namespace");
    EXPECT_EQ(result, 0);
}

bool is_full(const std::optional<pawl::error>& failed) {
    const auto matches = has_message(failed, errc::unavailable, "is full; make room on it");
    if (!matches) std::cerr << matches.message() << std::endl;
    return static_cast<bool>(matches);
}

// A whole client: its core repeats what fails for want of room.
class logging_client {
public:
    explicit logging_client(const small_disk& disk)
        : client_(pawl::sqlite::at({.path = disk.lock_file()}),
                  {.log = [this](std::string_view line) {
                      if (line.starts_with("Waiting for the service: The disk of ")) ++wait_count_;
                  }}) {}
    pawl::blocking::client* operator->() noexcept { return &client_; }
    [[nodiscard]] bool is_waiting() const { return wait_count_ > 0; }
    // An acquire with a wait, in a thread of its own. The result: whether it has the lock.
    [[nodiscard]] std::future<bool> start(const std::string& name) {
        return std::async(std::launch::async, [this, name] {
            return client_.acquire(name, {.wait = 60s}).owns_lock();
        });
    }

private:
    std::atomic<int> wait_count_ = 0;
    pawl::blocking::client client_;
};

int acquire_on_a_full_disk(const small_disk& disk) {
    logging_client logged(disk);
    (void)logged->acquire("it").release();
    disk.fill();
    if (!is_full(failure_of([&] { (void)logged->try_acquire("it"); }))) return 1;
    if (logged.is_waiting()) return 2;
    // A wait that ends before there is room.
    if (!is_full(failure_of([&] { (void)logged->acquire("it", {.wait = 50ms}); }))) return 3;
    if (!logged.is_waiting()) return 4;
    auto waiter = logged.start("it");
    auto other = logged.start("other");
    disk.free_space();
    if (!waiter.get()) return 5;
    if (!other.get()) return 6;
    return 0;
}

// A client that cannot even open the file, nor create it.
int open_on_a_full_disk(const small_disk& disk) {
    disk.fill();
    logging_client logged(disk);
    if (!is_full(failure_of([&] { (void)logged->try_acquire("it"); }))) return 1;
    auto waiter = logged.start("it");
    if (!eventually([&] { return logged.is_waiting(); })) return 2;
    disk.free_space();
    return waiter.get() ? 0 : 3;
}

// A queued waiter refreshes about once a second: a refresh that cannot be written does not end the
// wait.
int wait_in_line_on_a_full_disk(const small_disk& disk) {
    backend_runner holder(pawl::sqlite::at({.path = disk.lock_file()}));
    const auto count = std::make_shared<pawl::spi::counters>();
    backend_runner queued(pawl::sqlite::at({.path = disk.lock_file()}), count);
    const auto lock = holder.acquire_hold("it");
    auto waiter = queued.start(make_claim("it"));
    if (!eventually([&] { return holder.inspect("it").waiters == 1; })) return 1;
    disk.fill();
    const auto before = count->requests.value();
    if (!eventually([&] { return count->requests.value() >= before + 2 || waiter.is_done(); }))
        return 2;
    if (waiter.is_done()) return 3;
    disk.free_space();
    if (holder.release(lock) != pawl::release_result::released) return 4;
    return waiter.get() ? 0 : 5;
}

// A release that fails for want of room is repeated until there is some.
int release_on_a_full_disk(const small_disk& disk) {
    backend_runner holder(pawl::sqlite::at({.path = disk.lock_file()}));
    const auto lock = holder.acquire_hold("it", 60s);
    disk.fill();
    if (holder.release(lock) != pawl::release_result::unknown) return 1;
    disk.free_space();
    return eventually([&] { return !holder.inspect("it").held_by; }) ? 0 : 2;
}

TEST(SqliteSpace, AnAcquireWaitsForRoom) { on_a_small_disk(acquire_on_a_full_disk); }
TEST(SqliteSpace, AFileThatCannotBeMadeIsWaitedFor) { on_a_small_disk(open_on_a_full_disk); }
TEST(SqliteSpace, APlaceInLineIsKept) { on_a_small_disk(wait_in_line_on_a_full_disk); }
TEST(SqliteSpace, AReleaseIsDoneLater) { on_a_small_disk(release_on_a_full_disk); }

}  // namespace
}  // namespace backend_tests
