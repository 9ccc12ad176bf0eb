// A disk without room: a try is told at once, a wait is served when there is room.
#include "sqlite_world.hpp"
#include "support/eventually.hpp"

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
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace backend_tests {
namespace {

namespace fs = std::filesystem;
using pawl::errc;
using support::eventually;

void not_run(const std::string& why) { std::cout << "NOT RUN: " << why << std::endl; }

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
    void make_room() const { fs::remove(at_ + "/fill"); }

private:
    std::string at_;
};

using body = int (*)(const small_disk&);

// 0: as expected; else the number of the step that was not.
void on_a_small_disk(body steps) {
    const support::temp_folder folder;
    const auto inside = folder.file("small");
    fs::create_directory(inside);
    constexpr int no_disk = 99;
    const int result = in_a_child([&] {
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
        return not_run("this user may not mount anything, not even in a namespace");
    EXPECT_EQ(result, 0);
}

bool is_full(const std::optional<pawl::error>& failed) {
    const auto told = says(failed, errc::unavailable, "is full; make room on it");
    if (!told) std::cerr << told.message() << std::endl;
    return static_cast<bool>(told);
}

// Of one client, read by the test's thread.
struct client_words {
    std::atomic<int> waits = 0;
    std::shared_ptr<pawl::counters> count;
};

class overheard_service final : public pawl::service::definition {
public:
    overheard_service(pawl::service inner, std::shared_ptr<client_words> words)
        : inner_(std::move(inner)), words_(std::move(words)) {}
    std::unique_ptr<pawl::backend> open(pawl::backend_context context) const override {
        words_->count = context.count;
        context.log = [words = words_](std::string_view line) {
            if (line.starts_with("Waiting for the service: The disk of ")) ++words->waits;
        };
        return inner_.open(std::move(context));
    }
    std::string describe() const override { return inner_.describe(); }

private:
    pawl::service inner_;
    std::shared_ptr<client_words> words_;
};

class overheard_client {
public:
    explicit overheard_client(const small_disk& disk)
        : client_(pawl::service(std::make_shared<overheard_service>(
              pawl::sqlite::at({.path = disk.lock_file()}), words_))) {}
    client* operator->() noexcept { return &client_; }
    [[nodiscard]] bool waits() const { return words_->waits > 0; }
    [[nodiscard]] std::uint64_t requests() const { return words_->count->requests.value(); }

private:
    std::shared_ptr<client_words> words_ = std::make_shared<client_words>();
    client client_;
};

int acquire_on_a_full_disk(const small_disk& disk) {
    overheard_client one(disk);
    one->release(one->take("it"));
    disk.fill();
    if (!is_full(failure_of([&] { one->acquire(ask("it")); }))) return 1;
    if (one.waits()) return 2;
    // A wait that ends before there is room.
    if (!is_full(failure_of([&] { one->acquire(ask("it"), 50ms); }))) return 3;
    if (!one.waits()) return 4;
    auto waiter = one->start(ask("it"), 60s);
    auto other = one->start(ask("other"));
    disk.make_room();
    if (!waiter.get()) return 5;
    if (!other.get()) return 6;
    return 0;
}

// A client that cannot even open the file, nor make it.
int open_on_a_full_disk(const small_disk& disk) {
    disk.fill();
    overheard_client one(disk);
    if (!is_full(failure_of([&] { one->acquire(ask("it")); }))) return 1;
    auto waiter = one->start(ask("it"), 60s);
    if (!eventually([&] { return one.waits(); })) return 2;
    disk.make_room();
    return waiter.get() ? 0 : 3;
}

// In line, the waiter looks about once a second: a look that cannot be written is not the end.
int wait_in_line_on_a_full_disk(const small_disk& disk) {
    client holder(pawl::sqlite::at({.path = disk.lock_file()}));
    overheard_client one(disk);
    const auto lock = holder.take("it");
    auto waiter = one->start(ask("it"));
    if (!eventually([&] { return holder.inspect("it").waiters == 1; })) return 1;
    disk.fill();
    const auto before = one.requests();
    if (!eventually([&] { return one.requests() >= before + 2 || waiter.done(); })) return 2;
    if (waiter.done()) return 3;
    disk.make_room();
    if (holder.release(lock) != pawl::release_result::released) return 4;
    return waiter.get() ? 0 : 5;
}

// What cannot be given back for want of room is given back when there is some.
int release_on_a_full_disk(const small_disk& disk) {
    client holder(pawl::sqlite::at({.path = disk.lock_file()}));
    const auto lock = holder.take("it", 60s);
    disk.fill();
    if (holder.release(lock) != pawl::release_result::unknown) return 1;
    disk.make_room();
    return eventually([&] { return !holder.inspect("it").held_by; }) ? 0 : 2;
}

TEST(sqlite_space, an_acquire_waits_for_room) { on_a_small_disk(acquire_on_a_full_disk); }
TEST(sqlite_space, a_file_that_cannot_be_made_is_waited_for) {
    on_a_small_disk(open_on_a_full_disk);
}
TEST(sqlite_space, a_place_in_line_is_kept) { on_a_small_disk(wait_in_line_on_a_full_disk); }
TEST(sqlite_space, a_release_is_done_later) { on_a_small_disk(release_on_a_full_disk); }

}  // namespace
}  // namespace backend_tests
