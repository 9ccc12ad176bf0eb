// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Passwords: not in ps, not in any output, not in the command's environment.
#include "command.hpp"

#include <support/redis_server.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <run/processes.hpp>

namespace {

using namespace cli_test;

const std::string secret = "s3cr3t-Word";

class Secrets : public ::testing::Test {
protected:
    [[nodiscard]] std::string url(const std::string& password) const {
        return "redis://:" + password + "@127.0.0.1:" + std::to_string(server_.port());
    }
    // The arguments and environments of the process and its children that /proc shows.
    static std::string visible_text(pid_t process) {
        std::string text;
        for (const auto& each : pawl::cli::all_processes()) {
            if (each.pid != process && each.parent != process) continue;
            const auto folder = "/proc/" + std::to_string(each.pid) + "/";
            text += read_file(folder + "cmdline") + read_file(folder + "environ");
        }
        return text;
    }
    // The URL that the command gets.
    [[nodiscard]] std::string passed_url(const std::string& url) const {
        const auto result = sandbox_.run({"run", "--on", url, "x", "--", "printenv", "PAWL_URL"});
        EXPECT_EQ(result.code, 0) << result.err;
        return result.out.substr(0, result.out.find('\n'));
    }
    void expect_hidden(const words& options, const variables& more) {
        const auto process =
            sandbox_.start(words{"run", "-v"} + options +
                               words{"x", "--", "sh", "-c", "env; echo ready; exec sleep 600"},
                           more);
        ASSERT_TRUE(support::eventually([&] {
            return process->out().find("ready\n") != std::string::npos;
        })) << process->err();
        EXPECT_NE(child_named(process->pid(), "lock-process"), 0);
        EXPECT_EQ(visible_text(process->pid()).find(secret), std::string::npos);
        process->signal(SIGTERM);
        const auto result = process->wait();
        EXPECT_EQ(result.code, 128 + SIGTERM);
        EXPECT_EQ((result.out + result.err).find(secret), std::string::npos)
            << result.out << result.err;
        EXPECT_NE(result.out.find("PAWL_URL=redis://127.0.0.1:"), std::string::npos) << result.out;
        EXPECT_EQ(result.out.find("PAWL_URL_FILE"), std::string::npos);
    }

    support::redis_server server_{{.config = {"requirepass " + secret}, .password = secret}};
    test_sandbox sandbox_;
};

TEST_F(Secrets, StayHiddenWhenOnTheCommandLine) {
    expect_hidden({"--on", url(secret)}, {});
    expect_hidden({"--on=" + url(secret)}, {});
}
TEST_F(Secrets, StayHiddenWhenInTheEnvironment) { expect_hidden({}, {{"PAWL_URL", url(secret)}}); }
TEST_F(Secrets, StayHiddenWhenInAFile) {
    std::ofstream(sandbox_.file("url")) << url(secret) << "\n";
    expect_hidden({"--url-file", sandbox_.file("url")}, {});
    expect_hidden({}, {{"PAWL_URL", ""}, {"PAWL_URL_FILE", sandbox_.file("url")}});
}
TEST_F(Secrets, StayHiddenWhenInAConfigurationFile) {
    const auto file = sandbox_.file("pawl.conf");
    std::ofstream(file) << "url = " << url(secret) << "\n";
    std::filesystem::permissions(file, std::filesystem::perms(0600));
    expect_hidden({}, {{"PAWL_URL", ""}, {"PAWL_CONFIG", file}});
}
TEST_F(Secrets, AVariableThatHoldsThePasswordDoesNotReachTheCommand) {
    const auto result =
        sandbox_.run({"run", "--on", server_.url("?password_env=SECRET"), "x", "--", "env"},
                     {{"SECRET", secret}});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out.find(secret), std::string::npos);
}

TEST_F(Secrets, TheCommandGetsTheUrlOfTheSameServer) {
    const auto host = "127.0.0.1:" + std::to_string(server_.port());
    std::filesystem::create_directory(sandbox_.file("job@nightly"));
    const auto file = sandbox_.file("job@nightly/pw");
    std::ofstream(file) << secret << "\n";
    std::filesystem::permissions(file, std::filesystem::perms(0600));
    const auto passed = "redis://" + host + "/0?password_file=" + file;
    EXPECT_EQ(passed_url(passed), passed);
    EXPECT_EQ(passed_url("redis://default:" + secret + "@" + host + "/0?namespace=a@" + host),
              "redis://default@" + host + "/0?namespace=a@" + host);
}

TEST_F(Secrets, APasswordWithAHashSignIsHiddenAsAWhole) {
    support::redis_server server({.config = {"requirepass pa@x#w"}, .password = "pa@x#w"});
    const auto host = "127.0.0.1:" + std::to_string(server.port());
    EXPECT_EQ(passed_url("redis://:pa@x#w@" + host), "redis://" + host);
    EXPECT_EQ(sandbox_
                  .run({"run", "--on", "redis://:pa@x#w@" + host, "x", "--", "sh", "-c",
                        "tr '\\0' '\\n' < /proc/$PPID/cmdline | grep ^redis:"})
                  .out,
              "redis://" + host + "\n");
}

TEST_F(Secrets, OfTheCommandsOwnArgumentsAreItsOwn) {
    const auto own = url(secret);
    EXPECT_EQ(test_sandbox().run({"run", "x", "--", "echo", own}).out, own + "\n");
}

TEST_F(Secrets, AWrongOneIsOneSentenceAndExit77) {
    const auto result = sandbox_.run({"run", "--on", url("wr0ng-Word"), "x", "--", "true"});
    EXPECT_EQ(result.code, 77);
    EXPECT_EQ(result.err.find("wr0ng"), std::string::npos) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(sandbox_.run({"status", "x"}, {{"PAWL_URL", server_.url()}}).code, 77)
        << "none at all";
}

TEST_F(Secrets, AreNotInTheErrorOfABadUrl) {
    for (const std::string& bad :
         {"redis://u:" + secret + "@127.0.0.1:99999", "redis://u:" + secret + "@127.0.0.1:1",
          "redis://u:" + secret + "@127.0.0.1/x", "foo://u:" + secret + "@h",
          "redis://u:" + secret + "@127.0.0.1?bad=1", "redis:/:" + secret + "@127.0.0.1",
          "redis://:" + secret + "/x@127.0.0.1", ":" + secret + "@127.0.0.1"}) {
        const auto result = sandbox_.run({"status", "--on", bad, "x"});
        EXPECT_GE(result.code, 64) << bad;
        EXPECT_EQ((result.out + result.err).find(secret), std::string::npos) << result.err;
    }
    const auto in_a_wrong_place = sandbox_.run({url(secret), "x"});
    EXPECT_EQ(in_a_wrong_place.code, 64);
    EXPECT_EQ(in_a_wrong_place.err.find(secret), std::string::npos) << in_a_wrong_place.err;
}

}  // namespace
