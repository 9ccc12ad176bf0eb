// Bad places and broken files: one sentence each, and which kind of error it is.
#include "sqlite/place.hpp"
#include "sqlite_world.hpp"
#include "support/eventually.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace backend_tests {
namespace {

using pawl::errc;

void write(const std::string& path, const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
}

TEST(sqlite_refusal, network_file_systems) {
    using pawl::sqlite::refuse_shared;
    const auto refused = [](unsigned long magic) {
        return failure_of([&] { refuse_shared("/mnt/locks.db", magic); });
    };
    EXPECT_TRUE(says(refused(0x6969), errc::refused, "/mnt/locks.db is on NFS"));
    EXPECT_TRUE(says(refused(0xff534d42), errc::refused, "on CIFS"));
    EXPECT_TRUE(says(refused(0xfe534d42), errc::refused, "on SMB2"));
    EXPECT_TRUE(says(refused(0x65735546), errc::refused, "on FUSE"));
    EXPECT_TRUE(says(refused(0x01021997), errc::refused, "on 9P"));
    EXPECT_TRUE(says(refused(0x00c36400), errc::refused, "on Ceph"));
    // As statfs gives it where f_type is signed.
    EXPECT_TRUE(says(refused(static_cast<unsigned long>(static_cast<int>(0xff534d42))),
                     errc::refused, "on CIFS"));
    for (const unsigned long local : {0xef53UL, 0x01021994UL, 0x58465342UL, 0x9123683eUL})
        EXPECT_FALSE(refused(local)) << pawl::sqlite::file_system_name(local);
}

TEST(sqlite_refusal, the_file_system_of_a_path_that_is_not_there_yet) {
    const support::temp_folder folder;
    EXPECT_EQ(pawl::sqlite::file_system_of(folder.file("a/b/c/locks.db")),
              pawl::sqlite::file_system_of(folder.path().string()));
}

TEST(sqlite_refusal, paths_that_are_no_file) {
    const auto at = [](const std::string& path) {
        return failure_of([&] { (void)pawl::sqlite::at({.path = path}); });
    };
    EXPECT_TRUE(says(at(""), errc::bad_option, "empty"));
    EXPECT_TRUE(says(at(":memory:"), errc::bad_option, "memory:"));
    EXPECT_TRUE(says(at("file:locks.db"), errc::bad_option, "path"));
    EXPECT_TRUE(says(at("/var/lib/"), errc::bad_option, "folder"));
    EXPECT_TRUE(says(at(std::string("a\0b", 3)), errc::bad_option, "zero byte"));
    EXPECT_TRUE(says(failure_of([] { (void)pawl::sqlite::at({.path = "/a", .name_space = ""}); }),
                     errc::bad_option, "namespace"));
    const support::temp_folder folder;
    EXPECT_TRUE(says(use_of(folder.path().string()), errc::bad_option, "is not a file"));
    write(folder.file("plain"), "");
    EXPECT_TRUE(says(use_of(folder.file("plain/locks.db")), errc::bad_option, "is not a folder"));
    std::filesystem::create_symlink(folder.file("nothing"), folder.file("link"));
    EXPECT_TRUE(says(use_of(folder.file("link")), errc::bad_option, "symbolic link"));
}

TEST(sqlite_refusal, folders_are_made_only_where_that_is_asked_for) {
    const support::temp_folder folder;
    const auto path = folder.file("a/b/locks.db");
    EXPECT_TRUE(says(use_of(path), errc::bad_option, "does not exist"));
    EXPECT_FALSE(std::filesystem::exists(folder.file("a")));
    {
        client one(pawl::sqlite::at({.path = path, .make_folder = true}));
        one.take("it");
    }
    using std::filesystem::perms;
    for (const auto* made : {"a", "a/b"})
        EXPECT_EQ(std::filesystem::status(folder.file(made)).permissions(), perms::owner_all)
            << made;
}

TEST(sqlite_refusal, a_file_that_is_no_database) {
    const support::temp_folder folder;
    const std::string text(8192, 'x');
    write(folder.file("notes.txt"), text);
    EXPECT_TRUE(says(use_of(folder.file("notes.txt")), errc::bad_option, "not a SQLite database"));
    std::ifstream file(folder.file("notes.txt"));
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text);
}

TEST(sqlite_refusal, the_database_of_another_program) {
    const support::temp_folder folder;
    stranger(folder.file("app.db")).run("CREATE TABLE users (name TEXT)");
    EXPECT_TRUE(says(use_of(folder.file("app.db")), errc::bad_option, "another program"));
    EXPECT_EQ(stranger(folder.file("app.db")).text("PRAGMA journal_mode"), "delete");
}

TEST(sqlite_refusal, a_file_of_a_newer_pawl) {
    const sqlite_world world;
    EXPECT_FALSE(use_of(world.path()));
    stranger(world.path()).run("PRAGMA user_version = 4");
    EXPECT_TRUE(says(use_of(world.path()), errc::refused, "newer Pawl"));
}

TEST(sqlite_refusal, a_damaged_file) {
    const sqlite_world world;
    EXPECT_FALSE(use_of(world.path()));
    const auto size = std::filesystem::file_size(world.path());
    {
        std::fstream file(world.path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(4096);
        file << std::string(size - 4096, '\x5a');
    }
    EXPECT_TRUE(says(use_of(world.path()), errc::unavailable, "damaged"));
}

TEST(sqlite_refusal, places_that_may_not_be_written) {
    const support::temp_folder folder;
    const auto open = folder.file("open"), closed = folder.file("closed");
    std::filesystem::create_directory(open);
    std::filesystem::create_directory(closed);
    {
        client one(pawl::sqlite::at({.path = open + "/locks.db"}));
        one.take("it");
    }
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
    std::filesystem::permissions(open + "/locks.db", std::filesystem::perms(0444));
    for (const auto& each : {open, closed})
        std::filesystem::permissions(each, std::filesystem::perms(0555));
    EXPECT_EQ(in_a_child([&] {
                  if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return -2;
                  return (says(use_of(closed + "/locks.db"), errc::refused, closed) ? 1 : 0) +
                         (says(failure_of([&] {
                                   client one(pawl::sqlite::at(
                                       {.path = closed + "/a/locks.db", .make_folder = true}));
                                   one.take("it");
                               }),
                               errc::refused, "cannot be made")
                              ? 2
                              : 0) +
                         (says(use_of(open + "/locks.db"), errc::refused, open) ? 4 : 0);
              }),
              7);
    for (const auto& each : {open, closed})
        std::filesystem::permissions(each, std::filesystem::perms(0755));
}

TEST(sqlite_refusal, a_disk_without_room) {
    const sqlite_world world;
    EXPECT_EQ(in_a_child([&] {
                  std::signal(SIGXFSZ, SIG_IGN);
                  const rlimit little{8192, 8192};
                  if (::setrlimit(RLIMIT_FSIZE, &little) != 0) return -2;
                  return says(use_of(world.path()), errc::unavailable, world.path()) ? 1 : 0;
              }),
              1);
    EXPECT_FALSE(use_of(world.path()));
}

}  // namespace
}  // namespace backend_tests
