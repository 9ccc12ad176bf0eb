// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl run --shared`, `--permits`, `--fair`, and `pawl resize`, on each service that supports
// modes.
#include "backends.hpp"
#include "command.hpp"

#include <gtest/gtest.h>

#include <signal.h>

#include <sstream>

namespace {

using namespace cli_test;

class Modes : public ::testing::TestWithParam<backend> {
protected:
    [[nodiscard]] std::string status(const std::string& name, const std::string& expression) const {
        return from_json(sandbox().run({"status", name, "--json"}).out, expression);
    }
    [[nodiscard]] bool eventually_is(const std::string& name, const std::string& expression,
                                     const std::string& value) const {
        return support::eventually([&] { return status(name, expression) == value; });
    }
    // A command that holds the lock until it is terminated.
    [[nodiscard]] std::unique_ptr<started_process> hold(const words& options) const {
        return sandbox().start(words{"run"} + options + words{"--", "sleep", "600"});
    }
    // The exit status of a single attempt.
    [[nodiscard]] int try_once(const words& options) const {
        return sandbox().run(words{"run", "--wait", "0"} + options + words{"--", "true"}).code;
    }
    [[nodiscard]] const test_sandbox& sandbox() const { return backend_.sandbox(); }

    backend_sandbox backend_{GetParam()};
};

const std::string holders = "it['held'] + len(it['others'])";

TEST_P(Modes, ReadersRunBesideEachOtherAndKeepWritersOut) {
    const auto first = hold({"--shared", "x"});
    const auto second = hold({"--shared", "x"});
    ASSERT_TRUE(eventually_is("x", holders, "2")) << first->err() << second->err();
    EXPECT_EQ(status("x", "it['mode'], {h['mode'] for h in [it['holder']] + it['others']}"),
              "shared {'shared'}");
    EXPECT_EQ(status("x", "len({h['token'] for h in [it['holder']] + it['others']})"), "1");
    const auto phase = std::stoull(status("x", "it['holder']['token']"));
    EXPECT_EQ(try_once({"x"}), 75);
    EXPECT_EQ(try_once({"--permits", "1/2", "x"}), 75);

    const auto writer = sandbox().start({"run", "x", "--", "sh", "-c", "echo $PAWL_TOKEN"});
    ASSERT_TRUE(eventually_is("x", "it['waiters']", "1"));
    EXPECT_EQ(try_once({"--shared", "x"}), 75) << "no reader passes the writer";
    first->signal(SIGTERM);
    second->signal(SIGTERM);
    const auto result = writer->wait();
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_GT(std::stoull(result.out), phase);
}

TEST_P(Modes, NeverMorePermitsThanThereAre) {
    const auto first = hold({"--permits", "2/5", "x"});
    ASSERT_TRUE(eventually_is("x", holders, "1")) << first->err();
    const auto second = hold({"--permits", "2", "x"});
    ASSERT_TRUE(eventually_is("x", holders, "2")) << second->err();
    EXPECT_EQ(
        status("x", "it['permits'], sum(h['permits'] for h in [it['holder']] + it['others'])"),
        "5 4");
    EXPECT_EQ(status("x", "it['free_permits']"), "1");
    EXPECT_EQ(try_once({"--permits", "2", "x"}), 75);
    EXPECT_EQ(try_once({"--permits", "1/5", "x"}), 0);
    EXPECT_EQ(try_once({"--shared", "x"}), 75);

    const auto fewer = sandbox().run({"resize", "x", "4"});
    EXPECT_EQ(fewer.code, 0) << fewer.err;
    EXPECT_EQ(fewer.out, "'x' has 4 permits from now on.\n");
    EXPECT_EQ(try_once({"--permits", "1", "x"}), 75);
    const auto more = sandbox().run({"resize", "--json", "x", "6"});
    EXPECT_EQ(from_json(more.out, "it['name'], it['permits']"), "x 6") << more.err;
    EXPECT_EQ(try_once({"--permits", "2/6", "x"}), 0);
}

TEST_P(Modes, MoreOfThemLetWaitersIn) {
    const auto first = hold({"--permits", "1/1", "x"});
    ASSERT_TRUE(eventually_is("x", holders, "1")) << first->err();
    const auto second = hold({"--permits", "1", "x"});
    ASSERT_TRUE(eventually_is("x", "it['waiters']", "1")) << second->err();
    EXPECT_EQ(sandbox().run({"resize", "x", "2"}).code, 0);
    EXPECT_TRUE(eventually_is("x", holders, "2"));
}

// A mistyped name must not become another semaphore.
TEST_P(Modes, ResizeMakesASemaphoreOnlyWhenAsked) {
    const auto refused = sandbox().run({"resize", "mistyped", "3"});
    EXPECT_EQ(refused.code, 1);
    EXPECT_EQ(refused.out, "");
    EXPECT_EQ(
        refused.err,
        "pawl: There is no semaphore 'mistyped'; check the name, or add --create to create it.\n");
    EXPECT_EQ(status("mistyped", "it['permits'], it['free_permits']"), "None None");
    EXPECT_EQ(sandbox().run({"resize", "--create", "x", "3"}).out,
              "'x' has 3 permits from now on.\n");
    EXPECT_EQ(sandbox().run({"resize", "x", "2"}).code, 0) << "it is there by now";
    EXPECT_EQ(try_once({"--permits", "1/2", "x"}), 0);
}

TEST_P(Modes, AWrongNumberIsOneSentence) {
    const auto refused = [this](const std::string& permits) {
        const auto result = sandbox().run({"run", "--permits", permits, "x", "--", "true"});
        EXPECT_EQ(result.code, 64) << permits;
        EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
        return result.err;
    };
    EXPECT_EQ(refused("2"),
              "pawl: The total of the semaphore 'x' is not set; set it once with --permits 2/5.\n");
    ASSERT_EQ(try_once({"--permits", "1/5", "x"}), 0);
    EXPECT_NE(refused("1/8").find("'x' has 5 permits, not 8"), std::string::npos);
    EXPECT_NE(refused("6").find("has 5 permits, and you ask for 6; ask for fewer, or change that "
                                "with `pawl resize 'x' 6`."),
              std::string::npos);
    ASSERT_EQ(sandbox().run({"resize", "x", "1"}).code, 0);
    EXPECT_NE(refused("3").find("has 1 permit, and you ask for 3"), std::string::npos);
    EXPECT_NE(refused("1/2").find("'x' has 1 permit, not 2"), std::string::npos);
}

// 1. One process holds; A waits, then B waits. 2. The holder ends. A runs, then B.
TEST_P(Modes, TheFairGoInTheirOrder) {
    const auto log = sandbox().file("log");
    const auto waiting = [&](const std::string& name) {
        return sandbox().start(
            {"run", "--fair", "x", "--", "sh", "-c", "echo " + name + " >> " + log});
    };
    const auto first = hold({"--fair", "x"});
    ASSERT_TRUE(eventually_is("x", holders, "1")) << first->err();
    const auto a = waiting("a");
    ASSERT_TRUE(eventually_is("x", "it['waiters']", "1")) << a->err();
    const auto b = waiting("b");
    ASSERT_TRUE(eventually_is("x", "it['waiters']", "2")) << b->err();
    first->signal(SIGTERM);
    EXPECT_EQ(a->wait().code, 0);
    EXPECT_EQ(b->wait().code, 0);
    EXPECT_EQ(read_file(log), "a\nb\n");
}

TEST_P(Modes, ForceTakesItFromAllReaders) {
    const auto first = hold({"--ttl", "4s", "--shared", "x"});
    const auto second = hold({"--ttl", "4s", "--shared", "x"});
    ASSERT_TRUE(eventually_is("x", holders, "2")) << first->err() << second->err();
    EXPECT_EQ(sandbox().run({"release", "--force", "--yes", "x"}).code, 0);
    for (const auto* each : {first.get(), second.get()})
        EXPECT_TRUE(support::eventually([&] { return each->err().find("Lost 'x'") == 6; }))
            << each->err();
    EXPECT_EQ(first->wait().code, 70);
    EXPECT_EQ(second->wait().code, 70);
    EXPECT_EQ(try_once({"x"}), 0);
}

TEST_P(Modes, AreShownToPeople) {
    const auto first = hold({"--shared", "doc"});
    const auto second = hold({"--shared", "doc"});
    const auto third = hold({"--permits", "2/5", "pool"});
    ASSERT_TRUE(eventually_is("doc", holders, "2")) << first->err() << second->err();
    ASSERT_TRUE(eventually_is("pool", holders, "1")) << third->err();
    const auto doc = sandbox().run({"status", "doc"}).out;
    EXPECT_EQ(doc.find("'doc' is held, shared by 2\n"), 0U) << doc;
    for (const auto* each : {first.get(), second.get()})
        EXPECT_NE(doc.find("pid        " + std::to_string(each->pid())), std::string::npos) << doc;
    const auto pool = sandbox().run({"status", "pool"}).out;
    EXPECT_EQ(pool.find("'pool' is held, 2 of 5 permits\n"), 0U) << pool;
    const auto all = sandbox().run({"ls"}).out;
    EXPECT_NE(all.find("doc   shared"), all.rfind("doc   shared")) << all << "a line for each";
    EXPECT_NE(all.find("pool  2 of 5"), std::string::npos) << all;
    EXPECT_EQ(sandbox().run({"ls", "--names"}).out, "doc\npool\n");
    EXPECT_EQ(from_json(sandbox().run({"ls", "--json"}).out,
                        "[(each['mode'], each['permits'], len(each['others'])) for each in it]"),
              "[('shared', None, 1), ('permits', 5, 0)]");
}

TEST_P(Modes, WatchReportsEachHolder) {
    const auto first = hold({"first"});
    ASSERT_TRUE(sandbox().eventually_held("first")) << first->err();
    const auto events = sandbox().start({"watch", "--interval", "50ms", "--json"});
    const auto people = sandbox().start({"watch", "--interval", "50ms"});
    const auto reports = [&](const started_process& process, const std::string& text) {
        return support::eventually([&] { return process.out().find(text) != std::string::npos; });
    };
    ASSERT_TRUE(reports(*events, "\"event\":\"held\"")) << "they have had their first look";
    ASSERT_TRUE(reports(*people, "first  held by "));
    const auto reader = hold({"--shared", "x"});
    EXPECT_TRUE(reports(*events, "\"event\":\"taken\""));
    EXPECT_TRUE(reports(*people, "x  taken by ")) << people->err();
    const auto second_reader = hold({"--shared", "x"});
    EXPECT_TRUE(reports(*events, "\"event\":\"joined\""));
    EXPECT_TRUE(reports(*people, "x  joined by ")) << people->out();
    reader->signal(SIGTERM);
    EXPECT_TRUE(reports(*events, "\"event\":\"left\""));
    EXPECT_TRUE(reports(*people, "(sleep), shared, token ")) << people->out();
    std::istringstream lines(events->out());
    std::string line;
    while (std::getline(lines, line) && line.find("\"event\":\"taken\"") == std::string::npos) {}
    EXPECT_EQ(from_json(line, "it['by']['pid'], it['by']['mode'], it['lock']['mode']"),
              std::to_string(reader->pid()) + " shared shared");
}

TEST_P(Modes, WatchReportsTheTotalOfAFreedSemaphore) {
    const auto first = hold({"--permits", "2/5", "x"});
    ASSERT_TRUE(eventually_is("x", holders, "1")) << first->err();
    const auto events = sandbox().start({"watch", "--interval", "50ms", "--json"});
    const auto reports = [&](const std::string& text) {
        return support::eventually([&] { return events->out().find(text) != std::string::npos; });
    };
    ASSERT_TRUE(reports("\"event\":\"held\""));
    first->signal(SIGTERM);
    ASSERT_TRUE(reports("\"event\":\"freed\""));
    const auto all = events->out();
    const auto line = all.substr(all.rfind('\n', all.find("\"freed\"")) + 1);
    EXPECT_EQ(from_json(line.substr(0, line.find('\n')),
                        "it['lock']['held'], it['lock']['permits'], it['lock']['free_permits']"),
              "False 5 5");
}

INSTANTIATE_TEST_SUITE_P(On, Modes, ::testing::ValuesIn(backends()),
                         ::testing::PrintToStringParamName());

}  // namespace
