// The lock comes to a `pawl` whose supervisor is stopped while it waits (Ctrl-Z, SIGSTOP): its lock
// process takes the lock and renews it. What happens until the supervisor goes on counts, too.
#include "places.hpp"
#include "renewals.hpp"

#include <gtest/gtest.h>

#include <signal.h>

#include <filesystem>
#include <utility>

namespace {

using namespace cli_test;

class LateGrant : public ::testing::TestWithParam<place> {
protected:
    // `verb` and its options, stopped while it waits for 'x', which then becomes its lock.
    void grant_to_stopped(const words& verb) {
        const auto holder = here().start({"run", "x", "--", "sleep", "600"});
        ASSERT_TRUE(here().soon_held("x")) << holder->err();
        const auto script = "echo $PAWL_TOKEN >> " + ran_ + "; exec sleep 600";
        late_ = here().start(verb + words{"x", "--", "sh", "-c", script});
        ASSERT_TRUE(support::eventually([&] { return status("it['waiters']") == 1; }));
        late_->signal(SIGSTOP);
        holder->signal(SIGTERM);
        EXPECT_EQ(holder->wait().code, 128 + SIGTERM);
        ASSERT_TRUE(support::eventually([&] { return holder_pid() == late_->pid(); }));
    }
    // The lock process renews only after it has told the supervisor, but for the first time, when
    // it confirms what was handed over.
    void await_renewals() { ASSERT_TRUE(soon_renewed(here(), "x", 2)); }
    void lose_by_force() {
        await_renewals();
        EXPECT_EQ(here().run({"release", "--force", "--yes", "x"}).code, 0);
    }
    void next_holder() {
        next_ = here().start(words{"run", "x", "--"} + heartbeat(beats_));
        ASSERT_TRUE(beats(beats_)) << next_->err();
    }
    void expect_not_started(const words& options) {
        grant_to_stopped(words{"run", "--ttl", "2s"} + options);
        lose_by_force();
        next_holder();
        late_->signal(SIGCONT);
        const auto end = late_->wait();
        EXPECT_EQ(end.code, 70);
        EXPECT_NE(end.err.find("released it by force; the command was not started"),
                  std::string::npos)
            << end.err;
        EXPECT_FALSE(ran());
        EXPECT_TRUE(beats(beats_)) << "the next holder goes on";
    }
    [[nodiscard]] long long status(const std::string& expression) const {
        return std::stoll(from_json(here().run({"status", "x", "--json"}).out, expression));
    }
    [[nodiscard]] long long holder_pid() const {
        return status("(it['holder'] or {}).get('pid', 0)");
    }
    [[nodiscard]] bool ran() const { return std::filesystem::exists(ran_); }
    [[nodiscard]] const world& here() const { return home_.here(); }

    home home_{GetParam()};
    std::string ran_ = here().file("ran");
    std::string beats_ = here().file("beats");
    std::unique_ptr<started> late_;
    std::unique_ptr<started> next_;
};

//   A waits, A's supervisor is stopped | A's lock process gets the lock | somebody takes it away by
//   force, B begins | A's supervisor goes on: it reads of the grant and of the loss at once
TEST_P(LateGrant, StartsNothingAfterALoss) { expect_not_started({}); }
TEST_P(LateGrant, StartsNothingAfterALossThatOnlySendsSigterm) {
    expect_not_started({"--on-loss", "term"});
}
TEST_P(LateGrant, StartsNothingAfterALossThatOnlyWarns) {
    expect_not_started({"--on-loss", "continue"});
}

//   the same, and the time of --max-hold is over before A's supervisor goes on
TEST_P(LateGrant, StartsNothingAfterMaxHold) {
    grant_to_stopped({"run", "--ttl", "1s", "--max-hold", "2s"});
    next_holder();
    late_->signal(SIGCONT);
    const auto end = late_->wait();
    EXPECT_EQ(end.code, 70);
    EXPECT_NE(end.err.find("--max-hold are over for 'x'; the command was not started"),
              std::string::npos)
        << end.err;
    EXPECT_FALSE(ran());
}

//   the same with A in an election: A stands again and leads after B
TEST_P(LateGrant, StandsForElectionAgainAfterALoss) {
    grant_to_stopped({"elect", "--ttl", "2s"});
    lose_by_force();
    next_holder();
    late_->signal(SIGCONT);
    ASSERT_TRUE(support::eventually([&] { return status("it['waiters']") == 1; })) << late_->err();
    EXPECT_FALSE(ran());
    EXPECT_TRUE(late_->running()) << late_->err();
    next_->signal(SIGTERM);
    (void)next_->wait();
    EXPECT_TRUE(support::eventually([&] { return ran(); })) << late_->err();
    late_->signal(SIGTERM);
    EXPECT_EQ(late_->wait().code, 128 + SIGTERM) << late_->err();
}

//   A's lock process is killed after the grant | A's supervisor goes on
TEST_P(LateGrant, StartsNothingWithoutItsLockProcess) {
    grant_to_stopped({"run", "--ttl", "2s"});
    await_renewals();
    ::kill(child_named(late_->pid(), "lock-keeper"), SIGKILL);
    late_->signal(SIGCONT);
    EXPECT_EQ(late_->wait().code, 70);
    EXPECT_FALSE(ran());
}

//   A waits, A's supervisor is stopped | A's lock process gets the lock | a signal to A | A's
//   supervisor goes on: it reads of the grant and of the signal at once
TEST_P(LateGrant, ASignalThatCameMeanwhileEndsTheWait) {
    const std::pair<const char*, int> cases[]{{"run", SIGTERM}, {"run", SIGHUP}, {"elect", SIGINT}};
    for (const auto& [verb, number] : cases) {
        grant_to_stopped({verb, "--ttl", "2s"});
        await_renewals();
        late_->signal(number);
        late_->signal(SIGCONT);
        EXPECT_EQ(late_->wait().code, 128 + number) << verb;
        EXPECT_FALSE(ran()) << verb << " " << number;
        EXPECT_FALSE(here().held("x"));
    }
}

// A short stop costs nothing.
TEST_P(LateGrant, StartsWithALockThatIsStillHeld) {
    grant_to_stopped({"run", "--ttl", "30s"});
    late_->signal(SIGCONT);
    EXPECT_TRUE(support::eventually([&] { return ran(); })) << late_->err();
}

std::string name_of(const ::testing::TestParamInfo<place>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Services, LateGrant, ::testing::ValuesIn(places()), name_of);

}  // namespace
