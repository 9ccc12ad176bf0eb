// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Files and folders named by a command line, a URL or HOME: files of other users, and files without
// an end.
#include "command.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace {

using namespace cli_test;
namespace fs = std::filesystem;

constexpr uid_t somebody_else = 65534;

void expect_refused(const outcome& result, int code, const std::string& sentence) {
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, "pawl: " + sentence + "\n");
}

class DefaultFile : public ::testing::Test {
protected:
    [[nodiscard]] outcome run_locally(const variables& more = {}) const {
        return sandbox_.run({"run", "--local", "x", "--", "true"}, more);
    }
    [[nodiscard]] static std::string foreign_owner_message(const std::string& path) {
        return "'" + path + "', in the path of the default lock file, belongs to uid 65534, and " +
               "pawl runs as uid 0; use the HOME of the user that runs pawl (sudo -H), or name the "
               "service with --on URL.";
    }
    [[nodiscard]] static std::string writable_by_others_message(const std::string& path) {
        return "'" + path +
               "', in the path of the default lock file, is writable by other users, who could "
               "redirect your locks; run: chmod go-w " +
               path;
    }

    test_sandbox sandbox_;
    const std::string state_ = sandbox_.file(".local/state");
    const std::string folder_ = sandbox_.file(".local/state/pawl");
};

TEST_F(DefaultFile, NeedsAHomeThatExists) {
    const auto home = sandbox_.file("missing");
    expect_refused(run_locally({{"HOME", home}}), 64,
                   "The home folder '" + home +
                       "', which the default lock file needs, does not exist; use --on URL, or set "
                       "PAWL_URL.");
    EXPECT_FALSE(fs::exists(home));
}

TEST_F(DefaultFile, IsNotMadeInTheHomeOfAnotherUser) {
    if (::geteuid() == 0) {
        ASSERT_EQ(::chown(state_.c_str(), somebody_else, somebody_else), 0);
        expect_refused(run_locally(), 78, foreign_owner_message(state_));
        EXPECT_FALSE(fs::exists(folder_ + "/locks.db"));
        EXPECT_EQ(sandbox_.run({"ls"}).code, 0);  // a location that is named
        ASSERT_EQ(::chown(state_.c_str(), 0, 0), 0);
        EXPECT_EQ(run_locally().code, 0);
    } else {
        // In a new user namespace, folders of the real root belong to an unknown user.
        auto environment = sandbox_.environment();
        environment["HOME"] = "/usr";
        const words program{"unshare", "--user", "--map-root-user", PAWL_COMMAND, "ls", "--local"};
        expect_refused(started_process(program, environment).wait(), 78,
                       foreign_owner_message("/usr"));
    }
}

// The owner of the link would choose where the locks are, and where root writes.
TEST_F(DefaultFile, IsNotLookedForBehindALinkOfAnotherUser) {
    fs::rename(state_, sandbox_.file("elsewhere"));
    fs::create_directory_symlink(sandbox_.file("elsewhere"), state_);
    EXPECT_EQ(run_locally().code, 0);  // a link of this user
    fs::remove(sandbox_.file("elsewhere/pawl/locks.db"));
    if (::geteuid() != 0) return;
    ASSERT_EQ(::lchown(state_.c_str(), somebody_else, somebody_else), 0);
    expect_refused(run_locally(), 78, foreign_owner_message(state_));
    expect_refused(run_locally({{"XDG_STATE_HOME", state_}}), 78, foreign_owner_message(state_));
    EXPECT_FALSE(fs::exists(sandbox_.file("elsewhere/pawl/locks.db")));
    fs::remove(state_);
    fs::rename(sandbox_.file("elsewhere"), state_);
    const auto file = folder_ + "/locks.db";
    fs::create_symlink(sandbox_.file("target"), file);
    ASSERT_EQ(::lchown(file.c_str(), somebody_else, somebody_else), 0);
    expect_refused(run_locally(), 78, foreign_owner_message(file));
    EXPECT_FALSE(fs::exists(sandbox_.file("target")));
}

TEST_F(DefaultFile, IsNotPutWhereOthersMayWrite) {
    const auto set_rights = [](const std::string& path, unsigned rights) {
        fs::permissions(path, fs::perms(rights));
    };
    for (const unsigned rights : {0770U, 0702U, 01777U}) {
        set_rights(folder_, rights);
        expect_refused(run_locally(), 78, writable_by_others_message(folder_));
    }
    set_rights(folder_, 0700);
    set_rights(state_, 0777);
    expect_refused(run_locally(), 78, writable_by_others_message(state_));
    for (const unsigned rights : {0775U, 01777U, 0755U}) {
        set_rights(state_, rights);
        EXPECT_EQ(run_locally().code, 0) << rights;
    }
    set_rights(folder_ + "/locks.db", 0666);
    expect_refused(run_locally(), 78, writable_by_others_message(folder_ + "/locks.db"));
}

class NamedFile : public ::testing::Test {
protected:
    [[nodiscard]] outcome status(const std::string& url_file) const {
        return sandbox_.run({"status", "--url-file", url_file, "x"});
    }
    [[nodiscard]] std::string fifo() const {
        EXPECT_EQ(::mkfifo(sandbox_.file("fifo").c_str(), 0600), 0);
        return sandbox_.file("fifo");
    }
    [[nodiscard]] std::string url() const { return sandbox_.environment().at("PAWL_URL"); }

    test_sandbox sandbox_;
};

TEST_F(NamedFile, WithTheUrlIsNotReadForEver) {
    const std::string by = "', which --url-file names, ";
    expect_refused(status("/dev/zero"), 64,
                   "'/dev/zero" + by + "is neither a file nor a pipe; put the URL into a file.");
    expect_refused(status("/"), 64,
                   "'/" + by + "is neither a file nor a pipe; put the URL into a file.");
    const auto large = sandbox_.file("large");
    std::ofstream(large).flush();
    fs::resize_file(large, std::uintmax_t{1} << 33);
    expect_refused(
        status(large), 64,
        "'" + large + by + "has more than 64 KiB in its first line; name a file with a URL.");
    const auto path = fifo();
    expect_refused(status(path), 64,
                   "The first line of '" + path + by.substr(0, by.size() - 1) +
                       " is empty; put the URL there.");
    // Another process has it open and writes nothing.
    const int silent = ::open(path.c_str(), O_RDWR);
    ASSERT_GE(silent, 0);
    expect_refused(status(path), 66,
                   "The pipe '" + path + by +
                       "delivered no line within 5 s; make its writer write the URL sooner.");
    ::close(silent);
}

TEST_F(NamedFile, WithTheUrlMayBeAPipeOfTheShell) {
    auto environment = sandbox_.environment();
    const std::string command = PAWL_COMMAND;
    const words shell{"bash", "-c",
                      "'" + command + "' run --url-file <(sleep 0.3; echo '" + url() +
                          "') x -- echo ran; echo '" + url() + "' | '" + command +
                          "' run --url-file /dev/stdin x -- echo again"};
    const auto result = started_process(shell, environment).wait();
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out, "ran\nagain\n");
}

TEST_F(NamedFile, OfAPasswordOrCertificateIsARegularOne) {
    const auto path = fifo();
    const auto refused = [&](const std::string& url, const std::string& subject) {
        const auto result = sandbox_.run({"run", "--on", url, "--wait", "1s", "x", "--", "true"});
        EXPECT_EQ(result.code, 64) << result.err;
        EXPECT_EQ(result.err, "pawl: " + subject + "' is no regular file; name one.\n");
    };
    for (const std::string& each : {path, std::string("/dev/zero")}) {
        refused("redis://127.0.0.1:1?password_file=" + each, "The password file '" + each);
        refused("rediss://127.0.0.1:1?ca=" + each, "The CA file '" + each);
        refused("rediss://127.0.0.1:1?cert_key=/no/such&cert=" + each, "The certificate '" + each);
        refused("rediss://127.0.0.1:1?cert=/no/such&cert_key=" + each,
                "The key of the certificate '" + each);
    }
}

}  // namespace
