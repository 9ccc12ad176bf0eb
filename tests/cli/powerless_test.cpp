// What pawl may not kill or cannot see: it says so, and does not claim that nothing is left.
#include "command.hpp"
#include "confined.hpp"

#include <support/redis_server.hpp>

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace {

using namespace cli_test;

constexpr int outlived = 73;

// pawl runs as nobody. Its command turns into root by a program that may do so, as sudo does. Only
// root can prepare that.
class OtherUser : public ::testing::Test {
protected:
    void SetUp() override {
        namespace fs = std::filesystem;
        fs::permissions(here_.file("."), fs::perms(0755));
        fs::copy_file(PAWL_COMMAND, pawl_);
        fs::copy_file("/usr/bin/setpriv", become_root_);
        fs::permissions(become_root_, fs::perms(04755));
    }
    void TearDown() override {
        for (pid_t left = 0; (left = any_with(file_)) != 0;)
            ::kill(left, SIGKILL);
    }
    void start(const words& command, const std::string& ttl = "2s") {
        one_ = std::make_unique<started>(
            as_nobody() + words{pawl_, "run", "--ttl", ttl, "x", "--"} + command + heartbeat(file_),
            here_.environment());
        ASSERT_TRUE(beats(file_)) << one_->err();
    }
    [[nodiscard]] bool soon_said(const std::string& text) const {
        return support::eventually([&] { return one_->err().find(text) != std::string::npos; });
    }

    support::redis_server server_;
    world here_{server_.url()};
    std::string pawl_ = here_.file("pawl");
    std::string become_root_ = here_.file("become-root");
    std::string file_ = here_.file("beats");
    std::unique_ptr<started> one_;
};

TEST_F(OtherUser, ACommandThatMayNotBeKilledIsWaitedForAndNothingIsPromised) {
    if (::geteuid() != 0) return;
    start({become_root_, "--reuid=0"});
    server_.freeze();
    EXPECT_TRUE(soon_said("Not permitted to stop")) << one_->err();
    EXPECT_TRUE(soon_said("The lease ended while something of the command was still running"))
        << one_->err();
    EXPECT_TRUE(one_->running()) << "the command is its child and still there";
    EXPECT_TRUE(beats(file_));
    ::kill(any_with(file_), SIGKILL);
    EXPECT_EQ(one_->wait().code, outlived) << one_->err();
    server_.thaw();
}

TEST_F(OtherUser, AStrayThatMayNotBeKilledIsNamed) {
    if (::geteuid() != 0) return;
    start({"sh", "-c", "setsid " + become_root_ + " --reuid=0 \"$@\" & wait", "sh"});
    server_.freeze();
    const auto found = one_->wait();
    EXPECT_EQ(found.code, outlived);
    EXPECT_NE(found.err.find("Not permitted to stop pawl_cli_tests ("), std::string::npos)
        << found.err;
    EXPECT_NE(found.err.find("sudo pawl run"), std::string::npos) << "what to do";
    EXPECT_TRUE(beats(file_));
    server_.thaw();
}

TEST_F(OtherUser, ASignalThatMayNotBePassedOnIsTold) {
    if (::geteuid() != 0) return;
    start({become_root_, "--reuid=0"});
    one_->signal(SIGTERM);
    EXPECT_TRUE(soon_said("Not permitted to")) << one_->err();
    ::kill(any_with(file_), SIGKILL);
    EXPECT_EQ(one_->wait().code, 128 + SIGKILL) << one_->err();
}

// Its front killed, and its command not to be killed: the lock is not given back. A lock process
// that is stuck gives up 10 s after the lease; this one is not stuck.
TEST_F(OtherUser, OfAKilledPawlKeepsTheLock) {
    if (::geteuid() != 0) return;
    start({become_root_, "--reuid=0"}, "500ms");
    const pid_t keeper = child_named(one_->pid(), "lock-keeper");
    one_->signal(SIGKILL);
    const auto next = here_.run({"run", "--wait", "13s", "x", "--", "true"});
    EXPECT_EQ(next.code, 75) << "renewed as long as it is seen to live";
    ::kill(any_with(file_), SIGKILL);
    EXPECT_TRUE(support::eventually([&] { return !alive(keeper); }));
    EXPECT_EQ(here_.run({"run", "x", "--", "true"}).code, 0);
}

// The supervisor may open no file any more, as where a limit is reached: it sees no process, and
// does not take that for the end of the command.
class NoDescriptor : public ::testing::Test {
protected:
    void start(const std::string& script) {
        one_ = std::make_unique<started>(
            without_cgroups() +
                words{PAWL_COMMAND, "run", "--ttl", "4s", "x", "--", "sh", "-c", script, "sh"} +
                heartbeat(file_, "stubborn"),
            here_.environment());
        ASSERT_TRUE(beats(file_)) << one_->err();
        const rlimit standard_ones{.rlim_cur = 3, .rlim_max = 3};
        ASSERT_EQ(::prlimit(one_->pid(), RLIMIT_NOFILE, &standard_ones, nullptr), 0);
    }
    void TearDown() override {
        for (pid_t left = 0; (left = any_with(file_)) != 0;)
            ::kill(left, SIGKILL);
    }

    world here_;
    std::string file_ = here_.file("beats");
    std::unique_ptr<started> one_;
};

TEST_F(NoDescriptor, NothingIsPromisedAfterALoss) {
    start("setsid \"$@\" & exec sleep 600");
    EXPECT_EQ(here_.run({"release", "--force", "--yes", "x"}).code, 0);
    const auto end = one_->wait();
    EXPECT_EQ(end.code, outlived);
    EXPECT_NE(end.err.find("Cannot see whether anything of the command is left"), std::string::npos)
        << end.err;
    EXPECT_EQ(any_with(file_), 0) << "the lock process sees it";
}

TEST_F(NoDescriptor, TheGroupIsStoppedAllTheSame) {
    start("\"$@\" & until [ -e " + here_.file("go") + " ]; do sleep 0.02; done; exit 3");
    std::ofstream(here_.file("go")) << "\n";
    const auto end = one_->wait();
    EXPECT_EQ(end.code, 3) << end.err;
    EXPECT_EQ(any_with(file_), 0);
}

class PidNamespace : public OtherUser {
protected:
    void SetUp() override {}
    outcome run(const words& confinement, const words& arguments) {
        one_ = std::make_unique<started>(confinement + words{PAWL_COMMAND} + arguments,
                                         here_.environment());
        return one_->wait();
    }
};

TEST_F(PidNamespace, NamesNoProcessOfAnother) {
    for (const auto& confinement :
         {in_a_pid_namespace(), without_cgroups() + in_a_pid_namespace()}) {
        const auto found = run(confinement, {"run", "x", "--", "sh", "-c", "true; exit 3"});
        EXPECT_EQ(found.code, 3);
        EXPECT_EQ(found.err, "");
    }
}

TEST_F(PidNamespace, StopsTheGroupAndSaysThatItSeesNoMore) {
    one_ = std::make_unique<started>(without_cgroups() + in_a_pid_namespace() +
                                         words{PAWL_COMMAND, "run", "--ttl", "2s", "x", "--"} +
                                         heartbeat(file_, "pair"),
                                     here_.environment());
    ASSERT_TRUE(beats(file_)) << one_->err();
    EXPECT_EQ(here_.run({"release", "--force", "--yes", "x"}).code, 0);
    const auto found = one_->wait();
    EXPECT_EQ(found.code, outlived);
    EXPECT_NE(found.err.find("/proc shows another PID namespace"), std::string::npos) << found.err;
    EXPECT_EQ(any_with(file_), 0);
}

// What is left of the group is still stopped where /proc cannot be asked.
TEST_F(PidNamespace, StopsWhatTheCommandLeavesInItsGroup) {
    const auto script = "\"$@\" & until [ -s " + file_ + " ]; do :; done";
    const auto found =
        run(without_cgroups() + in_a_pid_namespace(),
            words{"run", "--ttl", "4s", "x", "--", "sh", "-c", script, "sh"} + heartbeat(file_));
    EXPECT_EQ(found.code, 0) << found.err;
    EXPECT_NE(found.err.find("told to stop"), std::string::npos) << found.err;
    EXPECT_EQ(any_with(file_), 0);
}

}  // namespace
