// pawl in a time namespace: its boot clock is not the one of the other processes on the host.
#include "command.hpp"
#include "confined.hpp"

#include <support/redis_server.hpp>

#include <gtest/gtest.h>

namespace {

using namespace cli_test;

constexpr std::int64_t second = 1'000'000'000;

class TimeNamespace : public ::testing::Test {
protected:
    static outcome ahead(const world& in, const words& arguments) {
        const auto program = with_boot_clock_ahead("86400") + words{PAWL_COMMAND} + arguments;
        return started(program, in.environment()).wait();
    }
    static bool possible() {
        const auto there = with_boot_clock_ahead("86400") + words{"true"};
        if (started(there, {{"PATH", "/usr/bin:/bin"}}).wait().code == 0) return true;
        std::cout << "NOT RUN: this user may not make time namespaces" << std::endl;
        return false;
    }
};

// A holds it for 30 s by the host's clock | B's clock is a day ahead: to B the lease is over | B
// must not get it, nor may B's rows make A's successors believe that it is free.
TEST_F(TimeNamespace, ALockFileIsNotSharedWithAnotherBootClock) {
    if (!possible()) return;
    const world here;
    const auto holder =
        here.start({"run", "x", "--", "sh", "-c",
                    "echo ready; until [ -e " + here.file("go") + " ]; do sleep 0.01; done"});
    ASSERT_TRUE(support::eventually([&] { return holder->out() == "ready\n"; }));
    for (const words& arguments :
         {words{"run", "x", "--", "echo", "ran"},
          words{"run", "--wait", "1s", "x", "--", "echo", "ran"},
          words{"run", "free", "--", "echo", "ran"}, words{"release", "--force", "--yes", "x"}}) {
        const auto inside = ahead(here, arguments);
        EXPECT_EQ(inside.code, 64) << inside.err;
        EXPECT_EQ(inside.out, "");
        EXPECT_NE(inside.err.find("boot clock of its own"), std::string::npos) << inside.err;
    }
    EXPECT_TRUE(here.held("x"));
    EXPECT_EQ(here.run({"run", "y", "--", "touch", here.file("go")}).code, 0);
    EXPECT_EQ(holder->wait().code, 0) << holder->err();
}

// A server has its own clock, and a client only measures time with its own: that is as good as any.
TEST_F(TimeNamespace, AServersLocksAreHeldAndLostThereAsElsewhere) {
    if (!possible()) return;
    support::redis_server server;
    const world here(server.url());
    const auto file = here.file("beats");
    const auto program = with_boot_clock_ahead("86400") +
                         words{PAWL_COMMAND, "run", "--ttl", "2s", "x", "--"} +
                         heartbeat(file, "stubborn");
    started inside(program, here.environment());
    ASSERT_TRUE(beats(file)) << inside.err();
    server.freeze();
    const auto deadline = boot_time() + (86400 + 2) * second;
    EXPECT_EQ(inside.wait().code, 70);
    EXPECT_LT(last_beat(file), deadline);
    server.thaw();
}

}  // namespace
