// `pawl run NAME --also NAME2`: all of them or none.
#include "command.hpp"
#include "places.hpp"

#include <gtest/gtest.h>

#include <signal.h>

#include <sstream>

namespace {

using namespace cli_test;
using namespace std::chrono_literals;

class Several : public ::testing::TestWithParam<place> {
protected:
    [[nodiscard]] std::string token_of(const std::string& name) const {
        return from_json(here().run({"status", name, "--json"}).out, "it['holder']['token']");
    }
    [[nodiscard]] const world& here() const { return home_.here(); }

    home home_{GetParam()};
};

TEST_P(Several, TheCommandHasAllTokens) {
    const auto one = here().start({"run", "b", "--also", "c", "--also", "a/ä", "--", "sh", "-c",
                                   R"(echo "$PAWL_NAME $PAWL_TOKEN $PAWL_ALSO"
            echo "$PAWL_ALSO_1_NAME $PAWL_ALSO_1_TOKEN $PAWL_ALSO_2_NAME $PAWL_ALSO_2_TOKEN"
            exec sleep 600)"});
    ASSERT_TRUE(support::eventually([&] {
        return one->out().ends_with("\n") && one->out().find("c ") != std::string::npos;
    })) << one->err();
    EXPECT_EQ(one->out(),
              "b " + token_of("b") + " 2\nc " + token_of("c") + " a/ä " + token_of("a/ä") + "\n");
    one->signal(SIGTERM);
    EXPECT_EQ(one->wait().code, 128 + SIGTERM);
    EXPECT_EQ(here().run({"ls"}).out, "") << "all given back";
}

TEST_P(Several, AnInnerOneDoesNotSeeTheOthersOfTheOuter) {
    const auto found = here().run({"run", "a", "--also", "b", "--", PAWL_COMMAND, "run", "c", "--",
                                   "sh", "-c", "env | grep ^PAWL_ALSO || echo none"});
    EXPECT_EQ(found.out, "none\n") << found.err;
}

TEST_P(Several, OneThatIsBusyLeavesNone) {
    const auto other = here().start({"run", "b", "--", "sleep", "600"});
    ASSERT_TRUE(here().soon_held("b")) << other->err();
    for (const char* wait : {"0", "100ms"}) {
        const auto found =
            here().run({"run", "--wait", wait, "a", "--also", "b", "--", "echo", "ran"});
        EXPECT_EQ(found.code, 75) << found.err;
        EXPECT_EQ(found.out, "");
        EXPECT_EQ(here().run({"ls", "--names"}).out, "b\n");
    }
    const auto both = here().start({"run", "c", "--also", "a", "--also", "b", "--", "echo", "ran"});
    ASSERT_TRUE(here().soon_held("a")) << both->err();
    EXPECT_EQ(both->out(), "");
    other->signal(SIGTERM);
    const auto found = both->wait();
    EXPECT_EQ(found.code, 0) << found.err;
    EXPECT_EQ(found.out, "ran\n");
}

TEST_P(Several, TheLossOfAnyIsTheLossOfAll) {
    const auto file = here().file("beats");
    const auto one = here().start(words{"run", "--ttl", "4s", "a", "--also", "b", "--"} +
                                  heartbeat(file, "stubborn"));
    ASSERT_TRUE(beats(file)) << one->err();
    EXPECT_EQ(here().run({"release", "--force", "--yes", "b"}).code, 0);
    const auto found = one->wait();
    EXPECT_EQ(found.code, 70);
    EXPECT_EQ(found.err.find("pawl: Lost 'b', one of the 2 locks: "), 0U) << found.err;
    EXPECT_TRUE(soon_silent(file));
    EXPECT_EQ(here().run({"ls"}).out, "") << "the other one is given back";
}

// The first is ours long before the last: the time of --max-hold begins with the last.
TEST_P(Several, MaxHoldBeginsWhenAllAreThere) {
    const auto other = here().start({"run", "b", "--", "sleep", "1.2"});
    ASSERT_TRUE(here().soon_held("b")) << other->err();
    const auto found = here().run({"run", "--ttl", "1s", "--max-hold", "1500ms", "a", "--also", "b",
                                   "--", "sh", "-c", "sleep 0.6; echo done"});
    EXPECT_EQ(found.code, 0) << found.err;
    EXPECT_EQ(found.out, "done\n");
}

// Nearly 292 years: added to now it is more than the clock can say.
TEST_P(Several, MaxHoldMayBeLongerThanTheClockCanSay) {
    const auto found = here().run({"run", "--ttl", "1s", "--max-hold", "106751d23h", "a", "--also",
                                   "b", "--", "sh", "-c", "sleep 0.6; echo done"});
    EXPECT_EQ(found.code, 0) << found.err;
    EXPECT_EQ(found.out, "done\n");
}

TEST_P(Several, MaxHoldEndsTheCommand) {
    const auto file = here().file("beats");
    const auto one =
        here().start(words{"run", "--ttl", "1s", "--max-hold", "1100ms", "a", "--also", "b", "--"} +
                     heartbeat(file, "stubborn"));
    const auto found = one->wait();
    EXPECT_EQ(found.code, 70);
    EXPECT_NE(found.err.find("The 1 s 100 ms of --max-hold are over for 'a' and 1 other"),
              std::string::npos)
        << found.err;
    EXPECT_TRUE(soon_silent(file));
}

TEST_P(Several, MaxHoldGivesBackWhatACommandRunsOnWithout) {
    const auto one = here().start(
        {"run", "--ttl", "1s", "--max-hold", "1s", "--on-loss", "continue", "a", "--also", "b",
         "--", "sh", "-c", "until [ -e " + here().file("go") + " ]; do sleep 0.02; done; exit 3"});
    ASSERT_TRUE(here().soon_held("b")) << one->err();
    EXPECT_TRUE(support::eventually([&] { return here().run({"ls"}).out.empty(); }));
    EXPECT_TRUE(one->running());
    EXPECT_EQ(here().run({"run", "a", "--also", "b", "--", "touch", here().file("go")}).code, 0);
    EXPECT_EQ(one->wait().code, 3);
}

TEST_P(Several, AKilledFrontGivesAllBack) {
    const auto file = here().file("beats");
    const auto one = here().start(words{"run", "a", "--also", "b", "--"} + heartbeat(file, "pair"));
    ASSERT_TRUE(beats(file)) << one->err();
    one->signal(SIGKILL);
    EXPECT_TRUE(soon_silent(file));
    EXPECT_TRUE(support::eventually([&] { return here().run({"ls"}).out.empty(); }))
        << "long before the ttl";
}

INSTANTIATE_TEST_SUITE_P(On, Several, ::testing::ValuesIn(places()),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
