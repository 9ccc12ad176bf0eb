// After a loss nothing of the command runs on, wherever it went: each shape below has a process
// that ignores SIGTERM outside the command's group, started as ordinary scripts do it.
//
//   sh, in the group           gets SIGTERM and dies of it: the group is empty
//   `- timeout, its own group  belongs to the supervisor now, with all that it started
//      `- the worker           must be dead when the lease ends, although no signal to the group
//                              has ever reached it
#include "command.hpp"
#include "confined.hpp"

#include <support/redis_server.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>

#include <filesystem>
#include <ostream>

namespace {

using namespace cli_test;

constexpr std::int64_t second = 1'000'000'000;

struct shape {
    const char* name;
    const char* shell;
    const char* script;  // "$@" is the worker
};

// Whether a cgroup can be made for the command. Without one there is the walk over /proc.
enum class cgroups { if_allowed, hidden };

struct situation {
    shape how;
    cgroups with;
};

void PrintTo(const situation& value, std::ostream* out) { *out << value.how.name; }

constexpr shape shapes[]{
    {"Timeout", "sh", "timeout 1000 \"$@\"; true"},
    {"TimeoutInTheBackground", "sh", "timeout 1000 \"$@\" & wait"},
    {"Setsid", "sh", "setsid \"$@\" & wait"},
    {"JobControl", "bash", "set -m; \"$@\" & wait"},
    {"Daemon", "sh", "(setsid sh -c '(\"$@\" &) ; exec sleep 1000' sh \"$@\" &); exec sleep 1000"},
    {"TimeoutBehindSetsid", "sh", "setsid sh -c 'timeout 1000 \"$@\"; true' sh \"$@\" & wait"},
};

class Strays : public ::testing::TestWithParam<situation> {
protected:
    // "$@" is a worker that ignores SIGTERM.
    void start(const std::string& ttl, const std::string& shell, const std::string& script,
               const std::string& how = "stubborn") {
        const words pawl{PAWL_COMMAND, "run", "--ttl", ttl, "x", "--", shell, "-c", script, shell};
        const words confinement = GetParam().with == cgroups::hidden ? without_cgroups() : words{};
        one_ = std::make_unique<started>(confinement + pawl + heartbeat(file_, how),
                                         here_.environment());
        ASSERT_TRUE(beats(file_)) << one_->err();
    }
    void start(const std::string& ttl) { start(ttl, GetParam().how.shell, GetParam().how.script); }
    void TearDown() override {
        for (pid_t left = 0; (left = any_with(file_)) != 0;)
            ::kill(left, SIGKILL);
    }
    [[nodiscard]] bool silent() const { return !any_with(file_); }

    support::redis_server server_;
    world here_{server_.url()};
    std::string file_ = here_.file("beats");
    std::unique_ptr<started> one_;
};

TEST_P(Strays, AreDeadWhenTheLeaseEnds) {
    start("2s");
    server_.freeze();
    const auto deadline = boot_time() + 2 * second;
    const auto found = one_->wait();
    EXPECT_TRUE(silent()) << "pawl ended before them";
    EXPECT_LT(last_beat(file_), deadline);
    EXPECT_EQ(found.code, 70) << found.err;
    server_.thaw();
}

TEST_P(Strays, OfAKilledPawlAreDeadBeforeTheNextHolderBegins) {
    start("2s");
    one_->signal(SIGKILL);
    const auto next = here_.run({"run", "x", "--", "cat", "/proc/uptime"});
    EXPECT_EQ(next.code, 0) << next.err;
    EXPECT_LT(static_cast<double>(last_beat(file_)) / 1e9, std::stod(next.out) + 0.01);
    EXPECT_TRUE(silent());
}

TEST_P(Strays, AreStoppedInTimeAlsoWhenPawlItselfIsFrozen) {
    start("3s");
    one_->signal(SIGSTOP);
    server_.freeze();
    const auto deadline = boot_time() + 3 * second;
    EXPECT_TRUE(soon_silent(file_));
    EXPECT_LT(last_beat(file_), deadline);
    one_->signal(SIGCONT);
    EXPECT_EQ(one_->wait().code, 70) << one_->err();
    server_.thaw();
}

std::vector<situation> situations() {
    std::vector<situation> all;
    for (const auto with : {cgroups::if_allowed, cgroups::hidden})
        for (const shape& each : shapes)
            all.push_back({each, with});
    return all;
}

std::string name_of(const ::testing::TestParamInfo<situation>& info) {
    return std::string(info.param.how.name) +
           (info.param.with == cgroups::hidden ? "WithoutCgroups" : "");
}

INSTANTIATE_TEST_SUITE_P(Shapes, Strays, ::testing::ValuesIn(situations()), name_of);

// The same for what needs no variety.
class Loose : public Strays {};

// A forced release: no deadline is left, but nobody is forgotten.
TEST_P(Loose, AreStoppedAfterAForcedRelease) {
    start("6s", "sh", "timeout 1000 \"$@\"; true");
    EXPECT_EQ(here_.run({"release", "--force", "--yes", "x"}).code, 0);
    EXPECT_EQ(one_->wait().code, 70) << one_->err();
    EXPECT_TRUE(silent());
}

TEST_P(Loose, AreToldBeforeTheyAreKilled) {
    start("4s", "sh",
          "setsid sh -c 'trap \"touch " + file_ +
              ".told; exit\" TERM; echo ready; "
              "while :; do sleep 0.02; done' & \"$@\" & wait");
    ASSERT_TRUE(support::eventually([&] { return one_->out() == "ready\n"; }));
    EXPECT_EQ(here_.run({"release", "--force", "--yes", "x"}).code, 0);
    EXPECT_EQ(one_->wait().code, 70) << one_->err();
    EXPECT_TRUE(std::filesystem::exists(file_ + ".told"));
}

// It stopped itself: only SIGKILL reaches it.
TEST_P(Loose, AreKilledAlsoWhenTheyAreStopped) {
    start("2s", "sh",
          "setsid \"$@\" & until [ -s " + file_ +
              " ]; do :; done; "
              "kill -STOP $!; echo stopped; wait");
    ASSERT_TRUE(support::eventually([&] { return one_->out() == "stopped\n"; }));
    EXPECT_EQ(here_.run({"release", "--force", "--yes", "x"}).code, 0);
    EXPECT_EQ(one_->wait().code, 70) << one_->err();
    EXPECT_TRUE(silent());
}

// A worker whose main thread has ended looks like a zombie in /proc, and works on.
TEST_P(Loose, AreKilledAlsoWithoutTheirMainThread) {
    start("2s", "sh", "setsid \"$@\" & wait", "headless");
    EXPECT_EQ(here_.run({"release", "--force", "--yes", "x"}).code, 0);
    EXPECT_EQ(one_->wait().code, 70) << one_->err();
    EXPECT_TRUE(silent());
}

// A chain of processes, each of which lives for a moment only and ends when its child is there. No
// walk over /proc is as fast, but a signal to the group leaves no room for a fork:
//
//   walk: sees process 7 of the group | 7 forks 8 | 7 ends | walk: the signal to 7 finds nobody
//   walk: signals the group           | 8 cannot complete a fork any more
TEST_P(Loose, AreKilledAlsoWhileTheyRunFromProcessToProcess) {
    start("6s", "sh", "setsid \"$@\" & exec sleep 1000", "runner");
    EXPECT_EQ(here_.run({"release", "--force", "--yes", "x"}).code, 0);
    EXPECT_EQ(one_->wait().code, 70) << one_->err();
    const auto ended = boot_time();
    EXPECT_EQ(here_.run({"run", "x", "--", "sleep", "0.1"}).code, 0);
    EXPECT_LT(last_beat(file_), ended) << one_->err();
}

// In a new session each time, so that only a pursuit can catch them. A race has no bound: pawl may
// be late, which it says, but does not end before it has won.
TEST_P(Loose, AreCaughtAlsoWhileTheyRunFromSessionToSession) {
    start("6s", "sh", "setsid \"$@\" & exec sleep 1000", "hopper");
    EXPECT_EQ(here_.run({"release", "--force", "--yes", "x"}).code, 0);
    EXPECT_THAT(one_->wait().code, testing::AnyOf(70, 73)) << one_->err();
    const auto ended = boot_time();
    EXPECT_EQ(here_.run({"run", "x", "--", "sleep", "0.1"}).code, 0);
    EXPECT_LT(last_beat(file_), ended) << one_->err();
}

// The front is dead, nobody is the reaper of the chain, and the keeper knows it by its environment.
TEST_P(Loose, OfAKilledPawlAreCaughtWhileTheyRunFromProcessToProcess) {
    start("6s", "sh", "setsid \"$@\" & exec sleep 1000", "runner");
    one_->signal(SIGKILL);
    const auto next = here_.run({"run", "x", "--", "cat", "/proc/uptime"});
    EXPECT_EQ(next.code, 0) << next.err;
    EXPECT_LT(static_cast<double>(last_beat(file_)) / 1e9, std::stod(next.out) + 0.01);
    EXPECT_TRUE(silent());
}

// Without a loss a daemon stays, in the cgroup of pawl's caller; the cgroup made for the command
// does not.
TEST_P(Loose, StayAndLeaveNoCgroupBehindWhenTheLockWasKept) {
    const words pawl{PAWL_COMMAND, "run", "x", "--"};
    const words confinement = GetParam().with == cgroups::hidden ? without_cgroups() : words{};
    started one(confinement + pawl + heartbeat(file_, "away"), here_.environment());
    const auto found = one.wait();
    EXPECT_EQ(found.code, 0) << found.err;
    EXPECT_NE(found.err.find("runs on without the lock"), std::string::npos) << found.err;
    ASSERT_TRUE(beats(file_));
    const pid_t worker = any_with(file_);
    EXPECT_EQ(cgroup_of(worker), cgroup_of(::getpid()));
    ::kill(worker, SIGKILL);
    EXPECT_TRUE(soon_silent(file_));
    EXPECT_TRUE(leftover_cgroups(one.pid()).empty());
}

INSTANTIATE_TEST_SUITE_P(Once, Loose,
                         ::testing::Values(situation{shapes[0], cgroups::if_allowed},
                                           situation{shapes[0], cgroups::hidden}),
                         name_of);

}  // namespace
