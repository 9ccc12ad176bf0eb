// `pawl run --shared`, `--permits`, `--fair`, and `pawl resize`, at each service that knows modes.
#include "command.hpp"
#include "places.hpp"

#include <gtest/gtest.h>

#include <signal.h>

#include <sstream>

namespace {

using namespace cli_test;

class Modes : public ::testing::TestWithParam<place> {
protected:
    [[nodiscard]] std::string status(const std::string& name, const std::string& expression) const {
        return from_json(here().run({"status", name, "--json"}).out, expression);
    }
    [[nodiscard]] bool soon(const std::string& name, const std::string& expression,
                            const std::string& value) const {
        return support::eventually([&] { return status(name, expression) == value; });
    }
    // A command that holds until it is told to end.
    [[nodiscard]] std::unique_ptr<started> hold(const words& options) const {
        return here().start(words{"run"} + options + words{"--", "sleep", "600"});
    }
    // The status of one that asks once.
    [[nodiscard]] int once(const words& options) const {
        return here().run(words{"run", "--wait", "0"} + options + words{"--", "true"}).code;
    }
    [[nodiscard]] const world& here() const { return home_.here(); }

    home home_{GetParam()};
};

const std::string holders = "it['held'] + len(it['others'])";

TEST_P(Modes, ReadersRunBesideEachOtherAndKeepWritersOut) {
    const auto one = hold({"--shared", "x"});
    const auto two = hold({"--shared", "x"});
    ASSERT_TRUE(soon("x", holders, "2")) << one->err() << two->err();
    EXPECT_EQ(status("x", "it['mode'], {h['mode'] for h in [it['holder']] + it['others']}"),
              "shared {'shared'}");
    EXPECT_EQ(status("x", "len({h['token'] for h in [it['holder']] + it['others']})"), "1");
    const auto phase = std::stoull(status("x", "it['holder']['token']"));
    EXPECT_EQ(once({"x"}), 75);
    EXPECT_EQ(once({"--permits", "1/2", "x"}), 75);

    const auto writer = here().start({"run", "x", "--", "sh", "-c", "echo $PAWL_TOKEN"});
    ASSERT_TRUE(soon("x", "it['waiters']", "1"));
    EXPECT_EQ(once({"--shared", "x"}), 75) << "nobody passes the writer";
    one->signal(SIGTERM);
    two->signal(SIGTERM);
    const auto found = writer->wait();
    EXPECT_EQ(found.code, 0) << found.err;
    EXPECT_GT(std::stoull(found.out), phase);
}

TEST_P(Modes, NeverMorePermitsThanThereAre) {
    const auto one = hold({"--permits", "2/5", "x"});
    ASSERT_TRUE(soon("x", holders, "1")) << one->err();
    const auto two = hold({"--permits", "2", "x"});
    ASSERT_TRUE(soon("x", holders, "2")) << two->err();
    EXPECT_EQ(
        status("x", "it['permits'], sum(h['permits'] for h in [it['holder']] + it['others'])"),
        "5 4");
    EXPECT_EQ(status("x", "it['free_permits']"), "1");
    EXPECT_EQ(once({"--permits", "2", "x"}), 75);
    EXPECT_EQ(once({"--permits", "1/5", "x"}), 0);
    EXPECT_EQ(once({"--shared", "x"}), 75);

    const auto fewer = here().run({"resize", "x", "4"});
    EXPECT_EQ(fewer.code, 0) << fewer.err;
    EXPECT_EQ(fewer.out, "'x' has 4 permits from now on.\n");
    EXPECT_EQ(once({"--permits", "1", "x"}), 75);
    const auto more = here().run({"resize", "--json", "x", "6"});
    EXPECT_EQ(from_json(more.out, "it['name'], it['permits']"), "x 6") << more.err;
    EXPECT_EQ(once({"--permits", "2/6", "x"}), 0);
}

TEST_P(Modes, MoreOfThemLetWaitersIn) {
    const auto one = hold({"--permits", "1/1", "x"});
    ASSERT_TRUE(soon("x", holders, "1")) << one->err();
    const auto two = hold({"--permits", "1", "x"});
    ASSERT_TRUE(soon("x", "it['waiters']", "1")) << two->err();
    EXPECT_EQ(here().run({"resize", "x", "2"}).code, 0);
    EXPECT_TRUE(soon("x", holders, "2"));
}

// A name that was mistyped must not become another semaphore.
TEST_P(Modes, ResizeMakesASemaphoreOnlyWhenAsked) {
    const auto refused = here().run({"resize", "mistyped", "3"});
    EXPECT_EQ(refused.code, 1);
    EXPECT_EQ(refused.out, "");
    EXPECT_EQ(refused.err,
              "pawl: There is no semaphore 'mistyped'; check the name, or say --create to make "
              "it.\n");
    EXPECT_EQ(status("mistyped", "it['permits'], it['free_permits']"), "None None");
    EXPECT_EQ(here().run({"resize", "--create", "x", "3"}).out, "'x' has 3 permits from now on.\n");
    EXPECT_EQ(here().run({"resize", "x", "2"}).code, 0) << "it is there by now";
    EXPECT_EQ(once({"--permits", "1/2", "x"}), 0);
}

TEST_P(Modes, AWrongNumberIsOneSentence) {
    const auto refused = [this](const std::string& permits) {
        const auto found = here().run({"run", "--permits", permits, "x", "--", "true"});
        EXPECT_EQ(found.code, 64) << permits;
        EXPECT_EQ(found.err.find('\n'), found.err.size() - 1) << found.err;
        return found.err;
    };
    EXPECT_EQ(refused("2"),
              "pawl: Nobody has said how many permits 'x' has; say it once, as in "
              "--permits 2/5.\n");
    ASSERT_EQ(once({"--permits", "1/5", "x"}), 0);
    EXPECT_NE(refused("1/8").find("'x' has 5 permits, not 8"), std::string::npos);
    EXPECT_NE(refused("6").find("has 5 permits, and you ask for 6; ask for fewer, or change that "
                                "with `pawl resize 'x' 6`."),
              std::string::npos);
    ASSERT_EQ(here().run({"resize", "x", "1"}).code, 0);
    EXPECT_NE(refused("3").find("has 1 permit, and you ask for 3"), std::string::npos);
    EXPECT_NE(refused("1/2").find("'x' has 1 permit, not 2"), std::string::npos);
}

// 1. One holds; A waits, B waits. 2. One ends. A runs, then B.
TEST_P(Modes, TheFairGoInTheirOrder) {
    const auto log = here().file("log");
    const auto waiting = [&](const std::string& name) {
        return here().start(
            {"run", "--fair", "x", "--", "sh", "-c", "echo " + name + " >> " + log});
    };
    const auto one = hold({"--fair", "x"});
    ASSERT_TRUE(soon("x", holders, "1")) << one->err();
    const auto a = waiting("a");
    ASSERT_TRUE(soon("x", "it['waiters']", "1")) << a->err();
    const auto b = waiting("b");
    ASSERT_TRUE(soon("x", "it['waiters']", "2")) << b->err();
    one->signal(SIGTERM);
    EXPECT_EQ(a->wait().code, 0);
    EXPECT_EQ(b->wait().code, 0);
    EXPECT_EQ(read_file(log), "a\nb\n");
}

TEST_P(Modes, ForceTakesItFromAllReaders) {
    const auto one = hold({"--ttl", "4s", "--shared", "x"});
    const auto two = hold({"--ttl", "4s", "--shared", "x"});
    ASSERT_TRUE(soon("x", holders, "2")) << one->err() << two->err();
    EXPECT_EQ(here().run({"release", "--force", "--yes", "x"}).code, 0);
    for (const auto* each : {one.get(), two.get()})
        EXPECT_TRUE(support::eventually([&] { return each->err().find("Lost 'x'") == 6; }))
            << each->err();
    EXPECT_EQ(one->wait().code, 70);
    EXPECT_EQ(two->wait().code, 70);
    EXPECT_EQ(once({"x"}), 0);
}

TEST_P(Modes, AreShownToPeople) {
    const auto one = hold({"--shared", "doc"});
    const auto two = hold({"--shared", "doc"});
    const auto three = hold({"--permits", "2/5", "pool"});
    ASSERT_TRUE(soon("doc", holders, "2")) << one->err() << two->err();
    ASSERT_TRUE(soon("pool", holders, "1")) << three->err();
    const auto doc = here().run({"status", "doc"}).out;
    EXPECT_EQ(doc.find("doc is held, shared by 2\n"), 0U) << doc;
    for (const auto* each : {one.get(), two.get()})
        EXPECT_NE(doc.find("pid        " + std::to_string(each->pid())), std::string::npos) << doc;
    const auto pool = here().run({"status", "pool"}).out;
    EXPECT_EQ(pool.find("pool is held, 2 of 5 permits\n"), 0U) << pool;
    const auto all = here().run({"ls"}).out;
    EXPECT_NE(all.find("doc   shared"), all.rfind("doc   shared")) << all << "a line for each";
    EXPECT_NE(all.find("pool  2 of 5"), std::string::npos) << all;
    EXPECT_EQ(here().run({"ls", "--names"}).out, "doc\npool\n");
    EXPECT_EQ(from_json(here().run({"ls", "--json"}).out,
                        "[(each['mode'], each['permits'], len(each['others'])) for each in it]"),
              "[('shared', None, 1), ('permits', 5, 0)]");
}

TEST_P(Modes, WatchTellsOfEachHolder) {
    const auto first = hold({"first"});
    ASSERT_TRUE(here().soon_held("first")) << first->err();
    const auto events = here().start({"watch", "--interval", "50ms", "--json"});
    const auto people = here().start({"watch", "--interval", "50ms"});
    const auto told = [&](const started& one, const std::string& what) {
        return support::eventually([&] { return one.out().find(what) != std::string::npos; });
    };
    ASSERT_TRUE(told(*events, "\"event\":\"held\"")) << "they have had their first look";
    ASSERT_TRUE(told(*people, "first  held by "));
    const auto one = hold({"--shared", "x"});
    EXPECT_TRUE(told(*events, "\"event\":\"taken\""));
    EXPECT_TRUE(told(*people, "x  taken by ")) << people->err();
    const auto two = hold({"--shared", "x"});
    EXPECT_TRUE(told(*events, "\"event\":\"joined\""));
    EXPECT_TRUE(told(*people, "x  joined by ")) << people->out();
    one->signal(SIGTERM);
    EXPECT_TRUE(told(*events, "\"event\":\"left\""));
    EXPECT_TRUE(told(*people, "(sleep), shared, token ")) << people->out();
    std::istringstream lines(events->out());
    std::string line;
    while (std::getline(lines, line) && line.find("\"event\":\"taken\"") == std::string::npos) {}
    EXPECT_EQ(from_json(line, "it['by']['pid'], it['by']['mode'], it['lock']['mode']"),
              std::to_string(one->pid()) + " shared shared");
}

TEST_P(Modes, WatchTellsOfAFreedSemaphoreHowManyThereAre) {
    const auto one = hold({"--permits", "2/5", "x"});
    ASSERT_TRUE(soon("x", holders, "1")) << one->err();
    const auto events = here().start({"watch", "--interval", "50ms", "--json"});
    const auto told = [&](const std::string& what) {
        return support::eventually([&] { return events->out().find(what) != std::string::npos; });
    };
    ASSERT_TRUE(told("\"event\":\"held\""));
    one->signal(SIGTERM);
    ASSERT_TRUE(told("\"event\":\"freed\""));
    const auto all = events->out();
    const auto line = all.substr(all.rfind('\n', all.find("\"freed\"")) + 1);
    EXPECT_EQ(from_json(line.substr(0, line.find('\n')),
                        "it['lock']['held'], it['lock']['permits'], it['lock']['free_permits']"),
              "False 5 5");
}

INSTANTIATE_TEST_SUITE_P(On, Modes, ::testing::ValuesIn(places()),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
