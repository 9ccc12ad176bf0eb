// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A service that is unavailable when the command starts, and comes back.
#include "command.hpp"

#include <support/redis_server.hpp>

#include <gtest/gtest.h>

namespace cli_test {
namespace {

const std::string waiting = "pawl: Waiting for the service: ";
const std::string refusals = "errorstat_NOREPLICAS:count=";

class UnavailableService : public testing::TestWithParam<words> {
protected:
    static bool says_that_it_waits(const started_process& process) {
        return support::eventually(
            [&] { return process.err().find(waiting) != std::string::npos; });
    }
    support::redis_server server;
    test_sandbox sandbox{server.url()};
};

TEST_P(UnavailableService, IsWaitedFor) {
    server.kill9();
    words all = GetParam();
    all.insert(all.end(), {"x", "--", "echo", "ran"});
    const auto process = sandbox.start(all);
    ASSERT_TRUE(says_that_it_waits(*process)) << process->err();
    EXPECT_TRUE(process->is_running());
    server.start();
    const auto end = process->wait();
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_EQ(end.out, "ran\n");
}

INSTANTIATE_TEST_SUITE_P(By, UnavailableService,
                         testing::Values(words{"run"}, words{"run", "--wait", "60s"},
                                         words{"run", "--wait", "60s", "--also", "y"},
                                         words{"elect", "--wait", "60s"}),
                         [](const auto& row) { return "Row" + std::to_string(row.index); });

// The last error, and the exit code of an unavailable service, not that of a lock that is not free.
TEST(AService, ThatStaysAwayEndsTheWait) {
    support::redis_server server;
    const test_sandbox sandbox(server.url());
    server.kill9();
    const auto end = sandbox.run({"run", "--wait", "2s", "x", "--", "echo", "ran"});
    EXPECT_EQ(end.code, 69) << end.err;
    EXPECT_EQ(end.out, "");
    EXPECT_NE(end.err.find("refused"), std::string::npos) << end.err;
    EXPECT_EQ(sandbox.run({"run", "--wait", "0", "x", "--", "true"}).code, 69);
}

// --verbose explains a wait after a second, but asks nothing of a server that has been silent so
// far. A try waits for no holder at all, and for the service for a second.
TEST(AService, ThatIsSilentIsAskedTheSameByAVerboseRun) {
    support::redis_server server;
    const test_sandbox sandbox(server.url());
    const auto requests_of = [&](const words& arguments, const std::string& silence_ms) {
        (void)server.execute({"CONFIG", "RESETSTAT"});
        (void)server.execute({"CLIENT", "PAUSE", silence_ms, "ALL"});
        EXPECT_EQ(sandbox.run(arguments).code, 0);
        const auto stats = server.execute({"INFO", "commandstats"}).text;
        const auto at = stats.find("cmdstat_evalsha:calls=");
        return at == std::string::npos ? stats : stats.substr(at, stats.find(',', at) - at);
    };
    EXPECT_EQ(sandbox.run({"run", "--wait", "0", "x", "--", "true"}).code, 0);
    const auto quiet = requests_of({"run", "--wait", "60s", "x", "--", "true"}, "2000");
    EXPECT_EQ(requests_of({"run", "-v", "--wait", "60s", "x", "--", "true"}, "2000"), quiet);
    EXPECT_EQ(requests_of({"run", "-v", "--wait", "0", "x", "--", "true"}, "200"), quiet);
    EXPECT_EQ(quiet.find("cmdstat_evalsha:calls="), 0U) << quiet;
}

// A wrong password remains wrong, so waiting does not help.
TEST(AService, ThatRefusesEndsTheLongestWait) {
    support::redis_server server({.config = {"requirepass secret"}, .password = "secret"});
    const test_sandbox sandbox(server.url());
    EXPECT_EQ(sandbox.run({"run", "x", "--", "true"}).code, 77);
}

// A service that can be reached but cannot serve any client: the wait is announced once.
TEST(AService, ThatCanServeNobodyIsWaitedFor) {
    support::redis_server server;
    const test_sandbox sandbox(server.url());
    (void)server.execute({"CONFIG", "SET", "min-replicas-to-write", "1"});
    const auto process = sandbox.start({"run", "x", "--", "echo", "ran"});
    const auto times_announced = [&] {
        const auto messages = process->err();
        std::size_t times = 0;
        for (auto position = messages.find(waiting); position != std::string::npos;
             position = messages.find(waiting, position + 1))
            ++times;
        return times;
    };
    ASSERT_TRUE(support::eventually([&] {
        return times_announced() > 0 || !process->is_running();
    })) << process->err();
    EXPECT_NE(process->err().find("NOREPLICAS"), std::string::npos) << process->err();
    const auto refused = [&server] {
        const auto errors = server.execute({"INFO", "errorstats"}).text;
        const auto position = errors.find(refusals);
        return position == std::string::npos ? 0
                                             : std::stoi(errors.substr(position + refusals.size()));
    };
    const auto before = refused();
    ASSERT_TRUE(support::eventually([&] { return refused() >= before + 3; })) << process->err();
    EXPECT_EQ(times_announced(), 1U) << process->err();
    (void)server.execute({"CONFIG", "SET", "min-replicas-to-write", "0"});
    const auto end = process->wait();
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_EQ(end.out, "ran\n");
}

}  // namespace
}  // namespace cli_test
