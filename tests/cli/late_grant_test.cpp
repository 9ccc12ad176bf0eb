// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The lock is granted to a `pawl` whose supervisor is stopped while it waits (Ctrl-Z, SIGSTOP). Its
// lock process acquires the lock and renews it. The events until the supervisor continues count,
// too.
#include "backends.hpp"
#include "renewals.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <filesystem>
#include <utility>

namespace {

using namespace cli_test;

class LateGrant : public ::testing::TestWithParam<backend> {
protected:
    // Stops `pawl VERB` while it waits for 'x', and lets it get the lock.
    void grant_to_stopped(const words& verb) {
        const auto holder = sandbox().start({"run", "x", "--", "sleep", "600"});
        ASSERT_TRUE(sandbox().eventually_held("x")) << holder->err();
        const auto script = "echo $PAWL_TOKEN >> " + ran_file_ + "; exec sleep 600";
        stopped_pawl_ = sandbox().start(verb + words{"x", "--", "sh", "-c", script});
        ASSERT_TRUE(support::eventually([&] { return status("it['waiters']") == 1; }));
        stopped_pawl_->signal(SIGSTOP);
        holder->signal(SIGTERM);
        EXPECT_EQ(holder->wait().code, 128 + SIGTERM);
        ASSERT_TRUE(support::eventually([&] { return holder_pid() == stopped_pawl_->pid(); }));
    }
    // The lock process sends its report before it renews, except for the first renewal of a
    // hand-over.
    void await_renewals() { ASSERT_TRUE(eventually_renewed(sandbox(), "x", 2)); }
    void lose_by_force() {
        await_renewals();
        EXPECT_EQ(sandbox().run({"release", "--force", "--yes", "x"}).code, 0);
    }
    // Lets the supervisor continue with a pending SIGTSTP, and waits until that stops it. The
    // tracer keeps it from running until the SIGTSTP is there: SIGCONT would discard an earlier
    // one.
    void stop_again() {
        const pid_t pid = stopped_pawl_->pid();
        ASSERT_EQ(::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr), 0);
        ASSERT_EQ(::waitpid(pid, nullptr, WUNTRACED), pid);
        stopped_pawl_->signal(SIGCONT);
        stopped_pawl_->signal(SIGTSTP);
        ASSERT_EQ(::ptrace(PTRACE_DETACH, pid, nullptr, nullptr), 0);
        ASSERT_TRUE(support::eventually([&] { return is_stopped(pid); })) << stopped_pawl_->err();
    }
    void start_next_holder() {
        next_pawl_ = sandbox().start(words{"run", "x", "--"} + heartbeat(beats_file_));
        ASSERT_TRUE(is_beating(beats_file_)) << next_pawl_->err();
    }
    // Lets the supervisor continue.
    void expect_end_without_start(const std::string& sentence) {
        stopped_pawl_->signal(SIGCONT);
        const auto end = stopped_pawl_->wait();
        EXPECT_EQ(end.code, 70);
        EXPECT_NE(end.err.find(sentence), std::string::npos) << end.err;
        EXPECT_FALSE(command_ran());
    }
    void expect_not_started(const words& options) {
        grant_to_stopped(words{"run", "--ttl", "2s"} + options);
        lose_by_force();
        start_next_holder();
        // On a busy machine, the lock process may look only after the next holder has begun.
        expect_end_without_start("; the command was not started");
        EXPECT_TRUE(is_beating(beats_file_)) << "the next holder continues";
    }
    [[nodiscard]] long long status(const std::string& expression) const {
        return std::stoll(from_json(sandbox().run({"status", "x", "--json"}).out, expression));
    }
    [[nodiscard]] long long holder_pid() const {
        return status("(it['holder'] or {}).get('pid', 0)");
    }
    [[nodiscard]] bool command_ran() const { return std::filesystem::exists(ran_file_); }
    [[nodiscard]] const test_sandbox& sandbox() const { return backend_.sandbox(); }

    backend_sandbox backend_{GetParam()};
    std::string ran_file_ = sandbox().file("ran");
    std::string beats_file_ = sandbox().file("beats");
    std::unique_ptr<started_process> stopped_pawl_;
    std::unique_ptr<started_process> next_pawl_;
};

//   A waits, A's supervisor is stopped | A's lock process gets the lock | the lock is released by
//   force, B begins | A's supervisor continues: it reads the grant and the loss together
TEST_P(LateGrant, StartsNothingAfterALoss) { expect_not_started({}); }
TEST_P(LateGrant, StartsNothingAfterALossThatOnlySendsSigterm) {
    expect_not_started({"--on-loss", "term"});
}
TEST_P(LateGrant, StartsNothingAfterALossThatOnlyWarns) {
    expect_not_started({"--on-loss", "continue"});
}

//   the same, and --max-hold is over before A's supervisor continues
TEST_P(LateGrant, StartsNothingAfterMaxHold) {
    grant_to_stopped({"run", "--ttl", "1s", "--max-hold", "2s"});
    start_next_holder();
    expect_end_without_start("--max-hold are over for 'x'; the command was not started");
}

//   the same with A in an election: A stands again and leads after B
TEST_P(LateGrant, StandsForElectionAgainAfterALoss) {
    grant_to_stopped({"elect", "--ttl", "2s"});
    lose_by_force();
    start_next_holder();
    stopped_pawl_->signal(SIGCONT);
    ASSERT_TRUE(support::eventually([&] { return status("it['waiters']") == 1; }))
        << stopped_pawl_->err();
    EXPECT_FALSE(command_ran());
    EXPECT_TRUE(stopped_pawl_->is_running()) << stopped_pawl_->err();
    next_pawl_->signal(SIGTERM);
    (void)next_pawl_->wait();
    EXPECT_TRUE(support::eventually([&] { return command_ran(); })) << stopped_pawl_->err();
    stopped_pawl_->signal(SIGTERM);
    EXPECT_EQ(stopped_pawl_->wait().code, 128 + SIGTERM) << stopped_pawl_->err();
}

//   A's supervisor reads the grant and the loss, and a SIGTSTP stops it before it goes on | SIGTERM
//   to A | A's supervisor continues
TEST_P(LateGrant, DoesNotStandForElectionAgainAfterALossAndASignal) {
    grant_to_stopped({"elect", "--ttl", "2s"});
    lose_by_force();
    start_next_holder();
    stop_again();
    stopped_pawl_->signal(SIGTERM);
    stopped_pawl_->signal(SIGCONT);
    EXPECT_EQ(stopped_pawl_->wait().code, 128 + SIGTERM);
    EXPECT_FALSE(command_ran());
}

//   A's lock process is killed after the grant | A's supervisor continues
TEST_P(LateGrant, StartsNothingWithoutItsLockProcess) {
    grant_to_stopped({"run", "--ttl", "2s"});
    await_renewals();
    const pid_t lock_process = child_named(stopped_pawl_->pid(), "lock-process");
    ASSERT_NE(lock_process, 0);
    ::kill(lock_process, SIGKILL);
    // It dies a little later than `kill` returns.
    ASSERT_TRUE(support::eventually([&] { return !is_alive(lock_process); }));
    stopped_pawl_->signal(SIGCONT);
    EXPECT_EQ(stopped_pawl_->wait().code, 70);
    EXPECT_FALSE(command_ran());
}

//   A waits, A's supervisor is stopped | A's lock process gets the lock | a signal to A | A's
//   supervisor continues: it reads the grant and the signal together
TEST_P(LateGrant, ASignalThatCameMeanwhileEndsTheWait) {
    const std::pair<const char*, int> cases[]{{"run", SIGTERM}, {"run", SIGHUP}, {"elect", SIGINT}};
    for (const auto& [verb, number] : cases) {
        grant_to_stopped({verb, "--ttl", "2s"});
        await_renewals();
        stopped_pawl_->signal(number);
        stopped_pawl_->signal(SIGCONT);
        EXPECT_EQ(stopped_pawl_->wait().code, 128 + number) << verb;
        EXPECT_FALSE(command_ran()) << verb << " " << number;
        EXPECT_FALSE(sandbox().is_held("x"));
    }
}

// A short stop has no effect.
TEST_P(LateGrant, StartsWithALockThatIsStillHeld) {
    grant_to_stopped({"run", "--ttl", "30s"});
    stopped_pawl_->signal(SIGCONT);
    EXPECT_TRUE(support::eventually([&] { return command_ran(); })) << stopped_pawl_->err();
}

INSTANTIATE_TEST_SUITE_P(Services, LateGrant, ::testing::ValuesIn(backends()),
                         ::testing::PrintToStringParamName());

}  // namespace
