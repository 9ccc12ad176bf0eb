// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What other programs may do to the file itself: give it a second name, remove its log, read it.
#include "lock_file_fixture.hpp"
#include "sqlite/file_identity.hpp"
#include "support/eventually.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace backend_tests {
namespace {

namespace fs = std::filesystem;
using pawl::errc;
using pawl::loss_reason;
using support::eventually;

TEST(SqliteNames, AFileWithAHardLinkIsRefusedUnderBoth) {
    const lock_file_fixture lock_file;
    EXPECT_FALSE(try_to_use(lock_file.path()));
    fs::create_hard_link(lock_file.path(), lock_file.folder().file("other.db"));
    for (const auto& path : {lock_file.path(), lock_file.folder().file("other.db")})
        EXPECT_TRUE(has_message(try_to_use(path), errc::refused, "hard links")) << path;
    fs::remove(lock_file.folder().file("other.db"));
    EXPECT_FALSE(try_to_use(lock_file.path()));
}

// A holds the lock; the link is made; B requests it under the other name. B must not get it, and A
// is told that the file is not safe any more.
TEST(SqliteNames, ALinkThatIsMadeUnderAHolderIsNoticed) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service());
    const auto lock = holder.acquire_hold("it");
    fs::create_hard_link(lock_file.path(), lock_file.folder().file("other.db"));
    EXPECT_TRUE(
        has_message(try_to_use(lock_file.folder().file("other.db")), errc::refused, "hard links"));
    EXPECT_EQ(holder.renew(lock, 60s).result, pawl::spi::renewal::outcome::unknown);
    EXPECT_TRUE(
        has_message(failure_of([&] { holder.acquire_hold("more"); }), errc::refused, "hard links"));
    fs::remove(lock_file.folder().file("other.db"));
    EXPECT_EQ(holder.renew(lock, 60s).result, pawl::spi::renewal::outcome::extended);
}

// One file under two names by a symbolic link is one file: SQLite follows the link.
TEST(SqliteNames, ASymbolicLinkIsTheSameFile) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service());
    const auto lock = holder.acquire_hold("it");
    const auto link = lock_file.folder().file("link.db");
    fs::create_symlink(lock_file.path(), link);
    backend_runner other(pawl::sqlite::at({.path = link}));
    EXPECT_EQ(other.inspect("it").held_by.value().token, lock.grant.token);
    EXPECT_FALSE(fs::exists(link + "-wal"));
    // From now on the link leads elsewhere.
    const auto theirs = other.acquire_hold("theirs");
    fs::remove(link);
    fs::create_symlink(lock_file.folder().file("second.db"), link);
    std::ofstream(lock_file.folder().file("second.db")).flush();
    EXPECT_EQ(other.renew(theirs, 60s).result, pawl::spi::renewal::outcome::refused);
    EXPECT_TRUE(
        eventually([&] { return other.has_lost(theirs.claim.owner, loss_reason::taken_over); }));
}

TEST(SqliteNames, DotsBehindASymbolicLinkLeadWhereTheKernelSays) {
    const lock_file_fixture lock_file;
    fs::create_directories(lock_file.folder().file("a/b"));
    fs::create_directory_symlink(lock_file.folder().file("a/b"), lock_file.folder().file("link"));
    EXPECT_FALSE(try_to_use(lock_file.folder().file("link/../locks.db")));
    EXPECT_TRUE(fs::exists(lock_file.folder().file("a/locks.db")));
}

// As `docker -v host.db:/data/locks.db` does. 1: no such namespace here; 2 and up: the failed step.
int use_mounted_file(const lock_file_fixture& lock_file) {
    const auto folder = lock_file.folder().file("inside");
    const auto inside = folder + "/locks.db";
    const bool root = ::geteuid() == 0;
    if (::unshare(root ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        return 1;
    if (::mount(lock_file.path().c_str(), inside.c_str(), nullptr, MS_BIND, nullptr) != 0) return 1;
    if (!has_message(try_to_use(inside), errc::refused, "mount the folder")) return 2;
    std::ifstream mounts("/proc/self/mountinfo");
    if (!pawl::sqlite::is_mount_point(mounts, fs::canonical(inside).string())) return 3;
    if (::umount(inside.c_str()) != 0) return 4;
    // While a lock is held.
    backend_runner holder(pawl::sqlite::at({.path = inside}));
    const auto lock = holder.acquire_hold("it");
    if (::mount(inside.c_str(), inside.c_str(), nullptr, MS_BIND, nullptr) != 0) return 5;
    if (!has_message(failure_of([&] { holder.acquire_hold("more"); }), errc::refused,
                     "mount the folder"))
        return 6;
    if (holder.renew(lock, 60s).result != pawl::spi::renewal::outcome::unknown) return 7;
    return 0;
}

TEST(SqliteNames, AFileThatIsMountedWithoutItsFolderIsRefused) {
    const lock_file_fixture lock_file;
    EXPECT_FALSE(try_to_use(lock_file.path()));
    fs::create_directory(lock_file.folder().file("inside"));
    std::ofstream(lock_file.folder().file("inside/locks.db")).flush();
    const int result = run_in_child([&] { return use_mounted_file(lock_file); });
    if (result == 1)
        return report_not_run("this user may not mount anything, not even in a namespace");
    EXPECT_EQ(result, 0);
}

// Inside, another disk is mounted, and the process stays until `leave` is closed.
void run_in_mount_namespace(const std::string& inside, int ready, int leave) {
    const bool root = ::geteuid() == 0;
    const bool mounted = ::unshare(root ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) == 0 &&
                         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         ::mount("none", inside.c_str(), "tmpfs", 0, nullptr) == 0;
    char sign = mounted ? 'y' : 'n';
    if (::write(ready, &sign, 1) == 1) static_cast<void>(::read(leave, &sign, 1));
    ::_exit(0);
}

class mount_namespace {
public:
    explicit mount_namespace(const std::string& inside) {
        std::array<int, 2> ready{}, leave{};
        if (::pipe(ready.data()) != 0 || ::pipe(leave.data()) != 0)
            throw std::runtime_error("no pipe");
        child_ = ::fork();
        if (child_ == 0) {
            ::close(leave[1]);
            run_in_mount_namespace(inside, ready[1], leave[0]);
        }
        ::close(ready[1]);
        ::close(leave[0]);
        leave_ = leave[1];
        char sign = 'n';
        was_created_ = ::read(ready[0], &sign, 1) == 1 && sign == 'y';
        ::close(ready[0]);
    }
    ~mount_namespace() { end(); }
    mount_namespace(const mount_namespace&) = delete;
    mount_namespace& operator=(const mount_namespace&) = delete;

    [[nodiscard]] bool was_created() const noexcept { return was_created_; }
    [[nodiscard]] std::string root() const { return "/proc/" + std::to_string(child_) + "/root"; }
    void end() {
        if (leave_ < 0) return;
        ::close(std::exchange(leave_, -1));
        ::waitpid(child_, nullptr, 0);
    }

private:
    pid_t child_ = -1;
    int leave_ = -1;
    bool was_created_ = false;
};

// A program inside has /…/inside/locks.db; we name it through /proc. The text of that link is the
// path inside, which is another file outside: two programs would hold one lock.
TEST(SqliteNames, APathThroughAnotherMountNamespaceIsRefused) {
    const lock_file_fixture lock_file;
    const auto inside = lock_file.folder().file("inside");
    fs::create_directory(inside);
    mount_namespace other_namespace(inside);
    if (!other_namespace.was_created())
        return report_not_run("this user may not mount anything, not even in a namespace");
    const auto through = other_namespace.root() + inside;
    EXPECT_TRUE(
        has_message(try_to_use(through + "/locks.db"), errc::refused, "leads to another file"));
    EXPECT_TRUE(
        has_message(try_to_use(through + "/../inside/locks.db"), errc::refused, "another file"));
    EXPECT_FALSE(fs::exists(inside + "/locks.db"));
    // The file exists on both sides, or on one.
    std::ofstream(through + "/locks.db").flush();
    EXPECT_TRUE(has_message(try_to_use(through + "/locks.db"), errc::refused, "another file"));
    EXPECT_FALSE(fs::exists(inside + "/locks.db"));
    std::ofstream(inside + "/locks.db").flush();
    EXPECT_TRUE(has_message(try_to_use(through + "/locks.db"), errc::refused, "another file"));
    EXPECT_EQ(fs::file_size(inside + "/locks.db"), 0U);
    // Where both are the same file there is nothing to confuse.
    EXPECT_FALSE(try_to_use("/proc/self/root" + lock_file.path()));
}

TEST(SqliteNames, TheKernelsListOfMountsIsUnderstood) {
    std::istringstream mounts(
        "36 35 98:0 / / rw,noatime master:1 - ext4 /dev/root rw\n"
        "40 36 0:5 /host.db /data/my\\040locks.db rw - ext4 /dev/root rw\n");
    const auto text = mounts.str();
    const auto mounted = [&](const std::string& path) {
        std::istringstream rebuilt(text);
        return pawl::sqlite::is_mount_point(rebuilt, path);
    };
    EXPECT_TRUE(mounted("/"));
    EXPECT_TRUE(mounted("/data/my locks.db"));
    EXPECT_FALSE(mounted("/data/my"));
    EXPECT_FALSE(mounted("/data"));
    EXPECT_FALSE(mounted("/host.db"));
}

class SqliteReplaced : public testing::TestWithParam<const char*> {};

// A holds the lock; the file is removed; B works on the new file at that path. A writes to a file
// that no other program reads, so its hold is over, and its next transaction reports that.
TEST_P(SqliteReplaced, TheHolderIsTold) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service());
    const auto lock = holder.acquire_hold("it");
    fs::remove(lock_file.path() + GetParam());
    EXPECT_EQ(holder.renew(lock, 60s).result, pawl::spi::renewal::outcome::refused);
    EXPECT_TRUE(
        eventually([&] { return holder.has_lost(lock.claim.owner, loss_reason::taken_over); }));
    const auto reacquired = holder.acquire(make_claim("another"));
    ASSERT_TRUE(reacquired);
    EXPECT_EQ(holder.renew(*reacquired, 60s).result, pawl::spi::renewal::outcome::extended);
}

TEST_P(SqliteReplaced, ByAnotherFileToo) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service());
    const auto lock = holder.acquire_hold("it");
    const auto path = lock_file.path() + GetParam();
    std::ofstream(path + ".new").flush();
    fs::rename(path + ".new", path);
    EXPECT_EQ(holder.renew(lock, 60s).result, pawl::spi::renewal::outcome::refused);
    EXPECT_TRUE(
        eventually([&] { return holder.has_lost(lock.claim.owner, loss_reason::taken_over); }));
}

INSTANTIATE_TEST_SUITE_P(Each, SqliteReplaced, testing::Values("", "-wal", "-shm"));

// Its own row in the new file proves nothing: others may have held the lock in between.
TEST(SqliteReplacedFile, AHoldDoesNotGoOnInAnOlderCopy) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service());
    const auto lock = holder.acquire_hold("it", 1h);
    sqlite_connection(lock_file.path()).run("VACUUM INTO '" + lock_file.path() + ".old'");
    for (const auto* suffix : {"-wal", "-shm"})
        fs::remove(lock_file.path() + suffix);
    fs::rename(lock_file.path() + ".old", lock_file.path());
    EXPECT_EQ(holder.renew(lock, 1h).result, pawl::spi::renewal::outcome::refused);
    EXPECT_TRUE(holder.inspect("it").held_by) << "the row keeps others out until its lease ends";
}

TEST(SqliteRights, NewFilesAreForTheirOwnerAlone) {
    const lock_file_fixture lock_file;
    const auto before = ::umask(0);
    backend_runner holder(lock_file.service());
    holder.acquire_hold("it");
    ::umask(before);
    for (const auto* suffix : {"", "-wal", "-shm"})
        EXPECT_EQ(fs::status(lock_file.path() + suffix).permissions(),
                  fs::perms::owner_read | fs::perms::owner_write)
            << suffix;
}

// The permissions of an existing file are its owner's choice; the log and its index follow.
TEST(SqliteRights, OfAFileThatAGroupSharesAreKept) {
    const lock_file_fixture lock_file;
    std::ofstream(lock_file.path()).flush();
    fs::permissions(lock_file.path(), fs::perms(0660));
    backend_runner holder(lock_file.service());
    holder.acquire_hold("it");
    for (const auto* suffix : {"", "-wal", "-shm"})
        EXPECT_EQ(fs::status(lock_file.path() + suffix).permissions(), fs::perms(0660)) << suffix;
}

// A read lock on the index of the log stops all writers, and needs no more than the permission to
// read.
int stop_all_writers(const std::string& path) {
    if (::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0) return 1;
    const int index = ::open((path + "-shm").c_str(), O_RDONLY | O_CLOEXEC);
    if (index < 0) return errno == EACCES ? 0 : 2;
    struct flock all {};
    all.l_type = F_RDLCK;
    all.l_whence = SEEK_SET;
    all.l_start = 120;
    all.l_len = 8;
    return ::fcntl(index, F_SETLK, &all) == 0 ? 3 : 4;
}

TEST(SqliteRights, AnotherUserCannotStopTheWriters) {
    if (::geteuid() != 0) return report_not_run("only root can play a second user");
    const lock_file_fixture lock_file;
    fs::permissions(lock_file.folder().path(), fs::perms(0755));
    backend_runner holder(lock_file.service());
    holder.acquire_hold("it");
    EXPECT_EQ(run_in_child([&] { return stop_all_writers(lock_file.path()); }), 0);
    // The attack itself, so that the test shows the purpose of the permissions.
    fs::permissions(lock_file.path() + "-shm", fs::perms(0644));
    EXPECT_EQ(run_in_child([&] { return stop_all_writers(lock_file.path()); }), 3);
}

TEST(SqliteRights, WiderOnesAreWarnedOf) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service());
    holder.acquire_hold("it");
    const auto grade = [&] {
        for (const auto& each : holder.examine().findings)
            if (each.topic == "rights") return each.level;
        return pawl::finding::grade::bad;
    };
    using enum pawl::finding::grade;
    EXPECT_EQ(grade(), good);
    fs::permissions(lock_file.path(), fs::perms(0644));
    EXPECT_EQ(grade(), good) << "no other user can enter the folder";
    fs::permissions(lock_file.folder().path(), fs::perms(0755));
    EXPECT_EQ(grade(), warning);
    fs::permissions(lock_file.path(), fs::perms(0640));
    EXPECT_EQ(grade(), warning);
    fs::permissions(lock_file.path(), fs::perms(0600));
    EXPECT_EQ(grade(), good);
    fs::permissions(lock_file.folder().path(), fs::perms(0777));
    EXPECT_EQ(grade(), warning);
}

}  // namespace
}  // namespace backend_tests
