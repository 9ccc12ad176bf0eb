// A service that is away when the command begins, and comes back.
#include "command.hpp"

#include <support/redis_server.hpp>

#include <gtest/gtest.h>

namespace cli_test {
namespace {

const std::string waiting = "pawl: Waiting for the service: ";
const std::string refusals = "errorstat_NOREPLICAS:count=";

class AwayService : public testing::TestWithParam<words> {
protected:
    static bool says_that_it_waits(const started& one) {
        return support::eventually([&] { return one.err().find(waiting) != std::string::npos; });
    }
    support::redis_server server;
    world here{server.url()};
};

TEST_P(AwayService, IsWaitedFor) {
    server.kill9();
    words all = GetParam();
    all.insert(all.end(), {"x", "--", "echo", "ran"});
    const auto one = here.start(all);
    ASSERT_TRUE(says_that_it_waits(*one)) << one->err();
    EXPECT_TRUE(one->running());
    server.start();
    const auto end = one->wait();
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_EQ(end.out, "ran\n");
}

INSTANTIATE_TEST_SUITE_P(By, AwayService,
                         testing::Values(words{"run"}, words{"run", "--wait", "60s"},
                                         words{"run", "--wait", "60s", "--also", "y"},
                                         words{"elect", "--wait", "60s"}),
                         [](const auto& row) { return "Row" + std::to_string(row.index); });

// The last reason, and the exit code of a service that is away, not that of a lock that is taken.
TEST(AService, ThatStaysAwayEndsTheWait) {
    support::redis_server server;
    const world here(server.url());
    server.kill9();
    const auto end = here.run({"run", "--wait", "2s", "x", "--", "echo", "ran"});
    EXPECT_EQ(end.code, 69) << end.err;
    EXPECT_EQ(end.out, "");
    EXPECT_NE(end.err.find("refused"), std::string::npos) << end.err;
    EXPECT_EQ(here.run({"run", "--wait", "0", "x", "--", "true"}).code, 69);
}

// A wrong password does not become right.
TEST(AService, ThatRefusesEndsTheLongestWait) {
    support::redis_server server({.config = {"requirepass secret"}, .password = "secret"});
    const world here(server.url());
    EXPECT_EQ(here.run({"run", "x", "--", "true"}).code, 77);
}

// One that is there and can serve nobody is waited for aloud, and not at every try.
TEST(AService, ThatCanServeNobodyIsWaitedFor) {
    support::redis_server server;
    const world here(server.url());
    (void)server.ask({"CONFIG", "SET", "min-replicas-to-write", "1"});
    const auto one = here.start({"run", "x", "--", "echo", "ran"});
    const auto says = [&] {
        const auto said = one->err();
        std::size_t times = 0;
        for (auto at = said.find(waiting); at != std::string::npos; at = said.find(waiting, at + 1))
            ++times;
        return times;
    };
    ASSERT_TRUE(support::eventually([&] { return says() > 0 || !one->running(); })) << one->err();
    EXPECT_NE(one->err().find("NOREPLICAS"), std::string::npos) << one->err();
    const auto refused = [&server] {
        const auto errors = server.ask({"INFO", "errorstats"}).text;
        const auto at = errors.find(refusals);
        return at == std::string::npos ? 0 : std::stoi(errors.substr(at + refusals.size()));
    };
    const auto before = refused();
    ASSERT_TRUE(support::eventually([&] { return refused() >= before + 3; })) << one->err();
    EXPECT_EQ(says(), 1U) << one->err();
    (void)server.ask({"CONFIG", "SET", "min-replicas-to-write", "0"});
    const auto end = one->wait();
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_EQ(end.out, "ran\n");
}

}  // namespace
}  // namespace cli_test
