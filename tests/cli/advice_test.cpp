// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What messages advise: commands that act on the same service, and options instead of C++ names.
#include "command.hpp"

#include <support/redis_server.hpp>
#include <support/redlock_group.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace {

using namespace cli_test;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// The environment names another service.
class Advice : public testing::Test {
protected:
    [[nodiscard]] outcome run(const words& arguments) const { return sandbox.run(arguments); }
    // A command that holds the lock until it is killed.
    [[nodiscard]] std::unique_ptr<started_process> hold(const words& options) const {
        auto process = sandbox.start(words{"run", "--on", url} + options +
                                     words{"--", "sh", "-c", "echo held; sleep 600"});
        EXPECT_TRUE(support::eventually([&] { return process->out() == "held\n"; }))
            << process->err();
        return process;
    }

    support::redis_server server;
    const std::string url = server.url() + "/0";
    const test_sandbox sandbox;
};

TEST_F(Advice, NamesTheServiceOfTheCommandLine) {
    const auto on = " --on '" + url + "'";
    const auto holder = hold({"--permits", "1/2", "pool"});
    EXPECT_THAT(run({"run", "--on", url, "--permits", "3/4", "pool", "--", "true"}).err,
                HasSubstr("`pawl resize" + on + " 'pool' 4`"));
    const auto lock = hold({"it"});
    EXPECT_THAT(run({"run", "--on", url, "--wait", "0", "it", "--", "true"}).err,
                HasSubstr("`pawl status" + on + " 'it'`"));
    EXPECT_THAT(run({"release", "--on", url, "--force", "--yes", "--token", "1", "it"}).err,
                HasSubstr("look with `pawl status" + on + " 'it'`"));
}

// The library's advice names any service.
TEST_F(Advice, NamesTheServiceOnce) {
    const auto file = "sqlite:" + sandbox.file("locks.db");
    std::ofstream(sandbox.file("locks.db.records")).close();
    EXPECT_THAT(run({"reconcile", "--history", "--on", file}).err,
                HasSubstr("run the output of `pawl schema --guard --on '" + file + "'`.\n"));
}

// The command in the file's name is no advice.
TEST_F(Advice, NamesAFileThatIsCalledLikeACommand) {
    const auto file = "sqlite:" + sandbox.file("pawl status.db");
    const auto holder =
        sandbox.start({"run", "--on", file, "it", "--", "sh", "-c", "echo held; sleep 600"});
    ASSERT_TRUE(support::eventually([&] { return holder->out() == "held\n"; })) << holder->err();
    EXPECT_THAT(run({"run", "--on", file, "--wait", "0", "it", "--", "true"}).err,
                HasSubstr("`pawl status --on '" + file + "' 'it'`"));
}

TEST_F(Advice, NamesTheNodesOfRedlock) {
    support::redlock_group group;
    const auto nodes = group.url();
    for (const words& reading : {words{"ls"}, words{"redlock", "status"}, words{"doctor"}}) {
        const auto advice = run(reading + words{"--on", nodes});
        EXPECT_THAT(advice.out + advice.err, HasSubstr("pawl redlock init --on '" + nodes));
    }
}

TEST_F(Advice, SaysThatASemaphoreLacksPermits) {
    const auto holder = hold({"--permits", "1/2", "pool"});
    EXPECT_THAT(
        run({"run", "--on", url, "--wait", "0", "--permits", "2", "pool", "--", "true"}).err,
        HasSubstr("The semaphore 'pool' had fewer than 2 free permits in one attempt; "));
    const auto other = hold({"--permits", "1", "pool"});
    EXPECT_THAT(
        run({"run", "--on", url, "--wait", "0", "--permits", "1", "pool", "--", "true"}).err,
        HasSubstr("The semaphore 'pool' had no free permit in one attempt; "));
}

TEST_F(Advice, HasNoNamesOfCpp) {
    const auto of_run = [&](const std::string& service, const words& options) {
        return run(words{"run", "--on", service, "--wait", "0"} + options +
                   words{"x", "--", "true"})
            .err;
    };
    EXPECT_THAT(
        of_run(url, {"--permits", "2"}),
        AllOf(HasSubstr("; set it once with --permits 2/5."), Not(HasSubstr("total_permits"))));
    EXPECT_THAT(of_run("redis://127.0.0.1:1", {}),
                AllOf(HasSubstr("could not be reached: Connection refused; "),
                      HasSubstr(" An attempt has 1 s (--wait 0).")));
    EXPECT_THAT(of_run(url, {"--durable", "disk"}),
                AllOf(HasSubstr("--durable disk"), Not(HasSubstr("durability"))));
}

// Waiting for a hold of another library that never ends.
TEST_F(Advice, DoesNotRecommendToWaitForAHoldWithoutAnEnd) {
    (void)server.execute({"SET", "pawl:{x}", "somebody"});
    const auto waiter = sandbox.start({"run", "--on", url, "-v", "x", "--", "true"});
    EXPECT_TRUE(support::eventually([&] {
        return waiter->err().find(
                   "this hold has no end, so waiting does not help: see `pawl "
                   "status --on '" +
                   url + "' 'x'`, or release it by force.") != std::string::npos;
    })) << waiter->err();
}

TEST(AdviceForRedlock, NamesTheUrlIfAllServersAreDown) {
    const auto end = test_sandbox("redlock://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3")
                         .run({"run", "--wait", "0", "x", "--", "true"});
    EXPECT_EQ(end.code, 69);
    EXPECT_THAT(end.err, HasSubstr("Connection refused; check that the servers run there and the "
                                   "URL is right."));
}

}  // namespace
