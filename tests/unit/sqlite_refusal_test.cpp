// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Bad paths and broken files: one sentence each, and the right kind of error.
#include "lock_file_fixture.hpp"
#include "sqlite/file_location.hpp"
#include "support/eventually.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

namespace backend_tests {
namespace {

using pawl::errc;

void write(const std::string& path, const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
}

TEST(SqliteRefusal, NetworkFileSystems) {
    using pawl::sqlite::refuse_shared;
    const auto refused = [](unsigned long magic) {
        return failure_of([&] { refuse_shared("/mnt/locks.db", magic); });
    };
    EXPECT_TRUE(has_message(refused(0x6969), errc::refused, "/mnt/locks.db is on NFS"));
    EXPECT_TRUE(has_message(refused(0xff534d42), errc::refused, "on CIFS"));
    EXPECT_TRUE(has_message(refused(0xfe534d42), errc::refused, "on SMB2"));
    EXPECT_TRUE(has_message(refused(0x65735546), errc::refused, "on FUSE"));
    EXPECT_TRUE(has_message(refused(0x01021997), errc::refused, "on 9P"));
    EXPECT_TRUE(has_message(refused(0x00c36400), errc::refused, "on Ceph"));
    // As statfs returns it where f_type is signed.
    EXPECT_TRUE(has_message(refused(static_cast<unsigned long>(static_cast<int>(0xff534d42))),
                            errc::refused, "on CIFS"));
    for (const unsigned long local : {0xef53UL, 0x01021994UL, 0x58465342UL, 0x9123683eUL})
        EXPECT_FALSE(refused(local)) << pawl::sqlite::file_system_name(local);
}

TEST(SqliteRefusal, TheFileSystemOfAPathThatIsNotThereYet) {
    const support::temp_folder folder;
    EXPECT_EQ(pawl::sqlite::file_system_of(folder.file("a/b/c/locks.db")),
              pawl::sqlite::file_system_of(folder.path().string()));
}

TEST(SqliteRefusal, APathThatCannotBeResolved) {
    const support::temp_folder folder;
    std::filesystem::create_directory_symlink(folder.file("b"), folder.file("a"));
    std::filesystem::create_directory_symlink(folder.file("a"), folder.file("b"));
    const auto path = folder.file("a") + "/../locks.db";
    EXPECT_TRUE(has_message(failure_of([&] { (void)pawl::sqlite::at({.path = path}); }),
                            errc::refused, path + " cannot be resolved: "));
}

TEST(SqliteRefusal, PathsThatAreNoFile) {
    const auto at = [](const std::string& path) {
        return failure_of([&] { (void)pawl::sqlite::at({.path = path}); });
    };
    EXPECT_TRUE(has_message(at(""), errc::bad_option, "empty"));
    EXPECT_TRUE(has_message(at(":memory:"), errc::bad_option, "memory:"));
    EXPECT_TRUE(has_message(at("file:locks.db"), errc::bad_option, "path"));
    EXPECT_TRUE(has_message(at("/var/lib/"), errc::bad_option, "folder"));
    EXPECT_TRUE(has_message(at(std::string("a\0b", 3)), errc::bad_option, "zero byte"));
    EXPECT_TRUE(
        has_message(failure_of([] { (void)pawl::sqlite::at({.path = "/a", .name_space = ""}); }),
                    errc::bad_option, "namespace"));
    const support::temp_folder folder;
    EXPECT_TRUE(has_message(try_to_use(folder.path().string()), errc::bad_option, "is not a file"));
    write(folder.file("plain"), "");
    EXPECT_TRUE(has_message(try_to_use(folder.file("plain/locks.db")), errc::bad_option,
                            "is not a folder"));
    std::filesystem::create_symlink(folder.file("nothing"), folder.file("link"));
    EXPECT_TRUE(has_message(try_to_use(folder.file("link")), errc::bad_option, "symbolic link"));
}

TEST(SqliteRefusal, FoldersAreMadeOnlyWhereThatIsAskedFor) {
    const support::temp_folder folder;
    const auto path = folder.file("a/b/locks.db");
    EXPECT_TRUE(has_message(try_to_use(path), errc::bad_option, "does not exist"));
    EXPECT_FALSE(std::filesystem::exists(folder.file("a")));
    {
        backend_runner holder(pawl::sqlite::at({.path = path, .make_folder = true}));
        holder.acquire_hold("it");
    }
    using std::filesystem::perms;
    for (const auto* folder_name : {"a", "a/b"})
        EXPECT_EQ(std::filesystem::status(folder.file(folder_name)).permissions(), perms::owner_all)
            << folder_name;
}

TEST(SqliteRefusal, AFileThatIsNoDatabase) {
    const support::temp_folder folder;
    const std::string text(8192, 'x');
    write(folder.file("notes.txt"), text);
    EXPECT_TRUE(has_message(try_to_use(folder.file("notes.txt")), errc::bad_option,
                            "not a SQLite database"));
    std::ifstream file(folder.file("notes.txt"));
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text);
}

TEST(SqliteRefusal, TheDatabaseOfAnotherProgram) {
    const support::temp_folder folder;
    sqlite_connection(folder.file("app.db")).run("CREATE TABLE users (name TEXT)");
    EXPECT_TRUE(
        has_message(try_to_use(folder.file("app.db")), errc::bad_option, "another program"));
    EXPECT_EQ(sqlite_connection(folder.file("app.db")).text("PRAGMA journal_mode"), "delete");
}

TEST(SqliteRefusal, AFileOfANewerPawl) {
    const lock_file_fixture lock_file;
    EXPECT_FALSE(try_to_use(lock_file.path()));
    sqlite_connection(lock_file.path()).run("PRAGMA user_version = 4");
    EXPECT_TRUE(has_message(try_to_use(lock_file.path()), errc::refused, "newer Pawl"));
}

// Objects that a member of the group with write permission has added to the file. None of them
// runs, and they are refused before any request about the locks.
TEST(SqliteRefusal, DefinitionsThatPawlDidNotMake) {
    const std::string endless =
        "BEGIN SELECT count(*) FROM (WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM "
        "r) SELECT x FROM r); END";
    const std::vector<std::pair<std::string, std::string>> additions{
        {"CREATE TRIGGER extra BEFORE INSERT ON holders " + endless, "trigger extra"},
        {"CREATE TRIGGER extra BEFORE INSERT ON holders BEGIN SELECT RAISE(IGNORE); END",
         "trigger extra"},
        {"CREATE TRIGGER extra AFTER INSERT ON holders BEGIN UPDATE holders SET token = "
         "zeroblob(400000000); END",
         "trigger extra"},
        {"CREATE VIEW extra AS SELECT * FROM holders", "view extra"},
        {"ALTER TABLE waiters RENAME TO others; CREATE VIEW waiters AS SELECT * FROM others",
         "table others"},
        {"CREATE TABLE extra (x)", "table extra"},
        {"CREATE TABLE \"a\x1b[2J\" (x)", "table a?[2J"},
        {"CREATE INDEX extra ON holders (length(client))", "index extra"},
        {"ALTER TABLE holders ADD COLUMN twice GENERATED ALWAYS AS (token * 2) VIRTUAL",
         "column holders.twice"},
        {"ALTER TABLE holders ADD COLUMN extra TEXT", "column holders.extra"},
        {"DROP INDEX line; CREATE INDEX line ON waiters (ns, name, length(client))", "index line"},
        {"DROP TABLE semaphores; CREATE TABLE semaphores (ns TEXT, name TEXT, permits INTEGER "
         "CHECK (permits < 5))",
         "constraint of semaphores"},
    };
    for (const auto& [sql, definition] : additions) {
        const lock_file_fixture lock_file;
        EXPECT_FALSE(try_to_use(lock_file.path()));
        sqlite_connection(lock_file.path()).run(sql);
        EXPECT_TRUE(has_message(try_to_use(lock_file.path()), errc::refused, definition)) << sql;
    }
    const lock_file_fixture lock_file;
    EXPECT_FALSE(try_to_use(lock_file.path()));
    sqlite_connection(lock_file.path()).run("ANALYZE");
    EXPECT_FALSE(try_to_use(lock_file.path()));
}

// The object is added while clients have the file open. A trigger that drops what is written: with
// triggers on, both clients would be told that they have the lock, and the file would contain
// neither.
TEST(SqliteRefusal, ATriggerUnderOpenClientsDoesNotRun) {
    const lock_file_fixture lock_file;
    backend_runner holder(lock_file.service());
    backend_runner other(lock_file.service());
    (void)holder.release(holder.acquire_hold("it"));
    (void)other.release(other.acquire_hold("it"));
    sqlite_connection(lock_file.path())
        .run("CREATE TRIGGER extra BEFORE INSERT ON holders BEGIN SELECT RAISE(IGNORE); END");
    const auto lock = holder.acquire_hold("it");
    EXPECT_FALSE(other.acquire(make_claim("it")));
    EXPECT_EQ(holder.release(lock), pawl::release_result::released);
}

// A conflict clause drops the row without a trigger.
TEST(SqliteRefusal, ARowThatIsNotWrittenIsNoHold) {
    const lock_file_fixture lock_file;
    EXPECT_FALSE(try_to_use(lock_file.path()));
    sqlite_connection(lock_file.path())
        .run(
            "DROP TABLE holders; CREATE TABLE holders (ns TEXT, name TEXT, owner TEXT, client "
            "TEXT, host TEXT, pid INTEGER, command TEXT, since INTEGER, boot TEXT, expires "
            "INTEGER, token INTEGER, mode INTEGER NOT NULL, permits INTEGER, set_at INTEGER, "
            "UNIQUE (mode) ON CONFLICT IGNORE)");
    backend_runner holder(lock_file.service());
    holder.acquire_hold("it");
    EXPECT_TRUE(has_message(failure_of([&] { holder.acquire_hold("another"); }), errc::unavailable,
                            "damaged"));
}

TEST(SqliteRefusal, ADamagedFile) {
    const lock_file_fixture lock_file;
    EXPECT_FALSE(try_to_use(lock_file.path()));
    const auto size = std::filesystem::file_size(lock_file.path());
    {
        std::fstream file(lock_file.path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(4096);
        file << std::string(size - 4096, '\x5a');
    }
    EXPECT_TRUE(has_message(try_to_use(lock_file.path()), errc::unavailable, "damaged"));
}

TEST(SqliteRefusal, PlacesThatMayNotBeWritten) {
    const support::temp_folder folder;
    const auto open = folder.file("open"), closed = folder.file("closed");
    std::filesystem::create_directory(open);
    std::filesystem::create_directory(closed);
    {
        backend_runner holder(pawl::sqlite::at({.path = open + "/locks.db"}));
        holder.acquire_hold("it");
    }
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
    std::filesystem::permissions(open + "/locks.db", std::filesystem::perms(0444));
    for (const auto& each : {open, closed})
        std::filesystem::permissions(each, std::filesystem::perms(0555));
    EXPECT_EQ(
        run_in_child([&] {
            if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return -2;
            return (has_message(try_to_use(closed + "/locks.db"), errc::refused, closed) ? 1 : 0) +
                   (has_message(failure_of([&] {
                                    backend_runner holder(pawl::sqlite::at(
                                        {.path = closed + "/a/locks.db", .make_folder = true}));
                                    holder.acquire_hold("it");
                                }),
                                errc::refused, "cannot be made")
                        ? 2
                        : 0) +
                   (has_message(try_to_use(open + "/locks.db"), errc::refused, open) ? 4 : 0);
        }),
        7);
    for (const auto& each : {open, closed})
        std::filesystem::permissions(each, std::filesystem::perms(0755));
}

TEST(SqliteRefusal, ADiskWithoutRoom) {
    const lock_file_fixture lock_file;
    EXPECT_EQ(run_in_child([&] {
                  std::signal(SIGXFSZ, SIG_IGN);
                  const rlimit little{8192, 8192};
                  if (::setrlimit(RLIMIT_FSIZE, &little) != 0) return -2;
                  return has_message(try_to_use(lock_file.path()), errc::unavailable,
                                     lock_file.path())
                             ? 1
                             : 0;
              }),
              1);
    EXPECT_FALSE(try_to_use(lock_file.path()));
}

}  // namespace
}  // namespace backend_tests
