// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// pawl in a time namespace: its boot clock differs from that of the other processes on the host.
#include "command.hpp"
#include "confined.hpp"

#include <support/redis_server.hpp>

#include <gtest/gtest.h>

namespace {

using namespace cli_test;

class TimeNamespace : public ::testing::Test {
protected:
    static outcome run_with_clock_ahead(const test_sandbox& sandbox, const words& arguments) {
        const auto program = with_boot_clock_ahead("86400") + words{PAWL_COMMAND} + arguments;
        return started_process(program, sandbox.environment()).wait();
    }
    static bool can_make_time_namespace() {
        const auto probe = with_boot_clock_ahead("86400") + words{"true"};
        if (started_process(probe, {{"PATH", "/usr/bin:/bin"}}).wait().code == 0) return true;
        std::cout << "NOT RUN: this user may not make time namespaces" << std::endl;
        return false;
    }
};

// A holds the lock for 30 s by the host's clock | B's clock is a day ahead: for B the lease is over
// | B must not get the lock, and B's rows must not make A's successors believe that it is free.
TEST_F(TimeNamespace, ALockFileIsNotSharedWithAnotherBootClock) {
    if (!can_make_time_namespace()) return;
    const test_sandbox sandbox;
    const auto holder =
        sandbox.start({"run", "x", "--", "sh", "-c",
                       "echo ready; until [ -e " + sandbox.file("go") + " ]; do sleep 0.01; done"});
    ASSERT_TRUE(support::eventually([&] { return holder->out() == "ready\n"; }));
    for (const words& arguments :
         {words{"run", "x", "--", "echo", "ran"},
          words{"run", "--wait", "1s", "x", "--", "echo", "ran"},
          words{"run", "free", "--", "echo", "ran"}, words{"release", "--force", "--yes", "x"}}) {
        const auto inside = run_with_clock_ahead(sandbox, arguments);
        EXPECT_EQ(inside.code, 64) << inside.err;
        EXPECT_EQ(inside.out, "");
        EXPECT_NE(inside.err.find("boot clock of its own"), std::string::npos) << inside.err;
    }
    EXPECT_TRUE(sandbox.is_held("x"));
    EXPECT_EQ(sandbox.run({"run", "y", "--", "touch", sandbox.file("go")}).code, 0);
    EXPECT_EQ(holder->wait().code, 0) << holder->err();
}

// A server has its own clock, and the client's clock only measures durations. So any client clock
// is correct.
TEST_F(TimeNamespace, AServersLocksAreHeldAndLostThereAsElsewhere) {
    if (!can_make_time_namespace()) return;
    support::redis_server server;
    const test_sandbox sandbox(server.url());
    const auto file = sandbox.file("beats");
    const auto program = with_boot_clock_ahead("86400") +
                         words{PAWL_COMMAND, "run", "--ttl", "2s", "x", "--"} +
                         heartbeat(file, "stubborn");
    started_process inside(program, sandbox.environment());
    ASSERT_TRUE(is_beating(file)) << inside.err();
    server.freeze();
    const auto deadline = boot_time() + (86400 + 2) * second;
    EXPECT_EQ(inside.wait().code, 70);
    EXPECT_LT(last_beat(file), deadline);
    server.thaw();
}

}  // namespace
