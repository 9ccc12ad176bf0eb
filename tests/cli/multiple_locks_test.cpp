// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl run NAME --also NAME2`: all locks or none.
#include "backends.hpp"
#include "command.hpp"

#include <gtest/gtest.h>

#include <signal.h>

#include <sstream>

namespace {

using namespace cli_test;
using namespace std::chrono_literals;

class MultipleLocks : public ::testing::TestWithParam<backend> {
protected:
    [[nodiscard]] std::string token_of(const std::string& name) const {
        return from_json(sandbox().run({"status", name, "--json"}).out, "it['holder']['token']");
    }
    [[nodiscard]] const test_sandbox& sandbox() const { return backend_.sandbox(); }

    backend_sandbox backend_{GetParam()};
};

TEST_P(MultipleLocks, TheCommandHasAllTokens) {
    const auto process =
        sandbox().start({"run", "b", "--also", "c", "--also", "a/ä", "--", "sh", "-c",
                         R"(echo "$PAWL_NAME $PAWL_TOKEN $PAWL_ALSO"
            echo "$PAWL_ALSO_1_NAME $PAWL_ALSO_1_TOKEN $PAWL_ALSO_2_NAME $PAWL_ALSO_2_TOKEN"
            exec sleep 600)"});
    ASSERT_TRUE(support::eventually([&] {
        return process->out().ends_with("\n") && process->out().find("c ") != std::string::npos;
    })) << process->err();
    EXPECT_EQ(process->out(),
              "b " + token_of("b") + " 2\nc " + token_of("c") + " a/ä " + token_of("a/ä") + "\n");
    process->signal(SIGTERM);
    EXPECT_EQ(process->wait().code, 128 + SIGTERM);
    EXPECT_EQ(sandbox().run({"ls"}).out, "") << "all released";
}

TEST_P(MultipleLocks, AnInnerOneDoesNotSeeTheOthersOfTheOuter) {
    const auto result = sandbox().run({"run", "a", "--also", "b", "--", PAWL_COMMAND, "run", "c",
                                       "--", "sh", "-c", "env | grep ^PAWL_ALSO || echo none"});
    EXPECT_EQ(result.out, "none\n") << result.err;
}

TEST_P(MultipleLocks, OneThatIsBusyLeavesNone) {
    const auto other = sandbox().start({"run", "b", "--", "sleep", "600"});
    ASSERT_TRUE(sandbox().eventually_held("b")) << other->err();
    for (const char* wait : {"0", "100ms"}) {
        const auto result =
            sandbox().run({"run", "--wait", wait, "a", "--also", "b", "--", "echo", "ran"});
        EXPECT_EQ(result.code, 75) << result.err;
        EXPECT_EQ(result.out, "");
        EXPECT_EQ(sandbox().run({"ls", "--names"}).out, "b\n");
    }
    const auto both =
        sandbox().start({"run", "c", "--also", "a", "--also", "b", "--", "echo", "ran"});
    ASSERT_TRUE(sandbox().eventually_held("a")) << both->err();
    EXPECT_EQ(both->out(), "");
    other->signal(SIGTERM);
    const auto result = both->wait();
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out, "ran\n");
}

TEST_P(MultipleLocks, TheLossOfAnyIsTheLossOfAll) {
    const auto file = sandbox().file("beats");
    const auto process = sandbox().start(words{"run", "--ttl", "4s", "a", "--also", "b", "--"} +
                                         heartbeat(file, "stubborn"));
    ASSERT_TRUE(is_beating(file)) << process->err();
    EXPECT_EQ(sandbox().run({"release", "--force", "--yes", "b"}).code, 0);
    const auto result = process->wait();
    EXPECT_EQ(result.code, 70);
    EXPECT_EQ(result.err.find("pawl: Lost 'b', one of the 2 locks: "), 0U) << result.err;
    EXPECT_TRUE(eventually_silent(file));
    EXPECT_EQ(sandbox().run({"ls"}).out, "") << "the other lock is released";
}

// The first lock is acquired long before the last. The time of --max-hold begins with the last.
TEST_P(MultipleLocks, MaxHoldBeginsWhenAllAreThere) {
    const auto other = sandbox().start({"run", "b", "--", "sleep", "1.2"});
    ASSERT_TRUE(sandbox().eventually_held("b")) << other->err();
    const auto result = sandbox().run({"run", "--ttl", "1s", "--max-hold", "1500ms", "a", "--also",
                                       "b", "--", "sh", "-c", "sleep 0.6; echo done"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out, "done\n");
}

// Nearly 292 years: added to the current time, it exceeds the range of the clock.
TEST_P(MultipleLocks, MaxHoldMayBeLongerThanTheClockCanSay) {
    const auto result = sandbox().run({"run", "--ttl", "1s", "--max-hold", "106751d23h", "a",
                                       "--also", "b", "--", "sh", "-c", "sleep 0.6; echo done"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out, "done\n");
}

TEST_P(MultipleLocks, MaxHoldEndsTheCommand) {
    const auto file = sandbox().file("beats");
    const auto process = sandbox().start(
        words{"run", "--ttl", "1s", "--max-hold", "1100ms", "a", "--also", "b", "--"} +
        heartbeat(file, "stubborn"));
    const auto result = process->wait();
    EXPECT_EQ(result.code, 70);
    EXPECT_NE(result.err.find("The 1 s 100 ms of --max-hold are over for 'a' and 1 other"),
              std::string::npos)
        << result.err;
    EXPECT_TRUE(eventually_silent(file));
}

TEST_P(MultipleLocks, MaxHoldGivesBackWhatACommandRunsOnWithout) {
    const auto process =
        sandbox().start({"run", "--ttl", "1s", "--max-hold", "1s", "--on-loss", "continue", "a",
                         "--also", "b", "--", "sh", "-c",
                         "until [ -e " + sandbox().file("go") + " ]; do sleep 0.02; done; exit 3"});
    ASSERT_TRUE(sandbox().eventually_held("b")) << process->err();
    EXPECT_TRUE(support::eventually([&] { return sandbox().run({"ls"}).out.empty(); }));
    EXPECT_TRUE(process->is_running());
    EXPECT_EQ(sandbox().run({"run", "a", "--also", "b", "--", "touch", sandbox().file("go")}).code,
              0);
    EXPECT_EQ(process->wait().code, 3);
}

TEST_P(MultipleLocks, AKilledSupervisorReleasesAll) {
    const auto file = sandbox().file("beats");
    const auto process =
        sandbox().start(words{"run", "a", "--also", "b", "--"} + heartbeat(file, "pair"));
    ASSERT_TRUE(is_beating(file)) << process->err();
    process->kill_supervisor();
    EXPECT_TRUE(eventually_silent(file));
    EXPECT_TRUE(support::eventually([&] { return sandbox().run({"ls"}).out.empty(); }))
        << "long before the ttl";
}

INSTANTIATE_TEST_SUITE_P(On, MultipleLocks, ::testing::ValuesIn(backends()),
                         ::testing::PrintToStringParamName());

}  // namespace
