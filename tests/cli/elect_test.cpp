// `pawl elect`: exactly one of many runs, and another takes over.
#include "command.hpp"

#include <support/redis_server.hpp>
#include <support/scripted_server.hpp>

#include <gtest/gtest.h>

#include <signal.h>

#include <algorithm>
#include <sstream>

namespace {

using namespace cli_test;

// Each term is a line with its token; the command then runs until somebody ends it.
words candidate(const std::string& terms, const std::string& ttl = "2s") {
    return {"elect", "--ttl", ttl,  "x",
            "--",    "sh",    "-c", "echo $PAWL_TOKEN $$ >> " + terms + "; exec sleep 1000"};
}

struct term {
    std::uint64_t token = 0;
    pid_t command = 0;
};

std::vector<term> terms_in(const std::string& file) {
    std::istringstream lines(read_file(file));
    std::vector<term> found;
    for (term one; lines >> one.token >> one.command;)
        found.push_back(one);
    return found;
}

bool soon_terms(const std::string& file, std::size_t count) {
    return support::eventually([&] { return terms_in(file).size() == count; });
}

void only_forward(const std::string& file) {
    const auto all = terms_in(file);
    for (std::size_t i = 1; i < all.size(); ++i)
        EXPECT_GT(all[i].token, all[i - 1].token);
}

// The leader's front is killed: its keeper ends the command and resigns, and the other leads.
void killed_leader(const world& here) {
    const auto file = here.file("terms");
    const auto one = here.start(candidate(file));
    ASSERT_TRUE(soon_terms(file, 1)) << one->err();
    const auto two = here.start(candidate(file));
    ASSERT_TRUE(support::eventually([&] {
        return std::stoi(from_json(here.run({"status", "x", "--json"}).out, "it['waiters']")) == 1;
    }));
    one->signal(SIGKILL);
    ASSERT_TRUE(soon_terms(file, 2)) << two->err();
    only_forward(file);
    EXPECT_FALSE(alive(terms_in(file)[0].command));
}

TEST(Elect, AKilledLeaderIsFollowedOnRedis) {
    support::redis_server server;
    killed_leader(world(server.url()));
}
TEST(Elect, AKilledLeaderIsFollowedOnSqlite) { killed_leader(world()); }

// 1. One leads. 2. It, its keeper and its command are stopped for longer than the ttl. 3. Two
// leads.
// 4. All are woken: the command of one must end, and one stands in line again. 5. Two is killed:
// one leads again, with a later token.
TEST(Elect, AStoppedLeaderThatWakesStandsInLine) {
    support::redis_server server;
    const world here(server.url());
    const auto file = here.file("terms");
    const auto one = here.start(candidate(file));
    ASSERT_TRUE(soon_terms(file, 1)) << one->err();
    const auto command = terms_in(file)[0].command;
    const auto keeper = child_named(one->pid(), "lock-keeper");
    ASSERT_GT(keeper, 0);
    for (const pid_t each : {one->pid(), keeper, command})
        ::kill(each, SIGSTOP);
    const auto two = here.start(candidate(file));
    ASSERT_TRUE(soon_terms(file, 2)) << two->err();
    for (const pid_t each : {keeper, one->pid(), command})
        ::kill(each, SIGCONT);
    EXPECT_TRUE(support::eventually([&] {
        return one->err().find("Stands for election as 'x' again") != std::string::npos;
    })) << one->err();
    EXPECT_TRUE(support::eventually([&] { return !alive(command); }));
    EXPECT_TRUE(support::eventually([&] {
        return std::stoi(from_json(here.run({"status", "x", "--json"}).out, "it['waiters']")) == 1;
    }));
    two->signal(SIGKILL);
    ASSERT_TRUE(soon_terms(file, 3)) << one->err();
    only_forward(file);
}

TEST(Elect, ALeaderPutDownByForceStandsAgain) {
    const world here;
    const auto file = here.file("terms");
    const auto one = here.start(candidate(file));
    ASSERT_TRUE(soon_terms(file, 1)) << one->err();
    EXPECT_EQ(here.run({"release", "--force", "--yes", "x"}).code, 0);
    ASSERT_TRUE(soon_terms(file, 2)) << one->err();
    only_forward(file);
    EXPECT_FALSE(alive(terms_in(file)[0].command));
    ::kill(one->pid(), SIGTERM);
    EXPECT_EQ(one->wait().code, 128 + SIGTERM) << "a signal ends it for good";
}

// 1. One leads. 2. The server dies: the command ends, and one asks in vain. 3. The server is back,
// with nothing: one leads again, with a later term.
TEST(Elect, AServiceThatGoesAwayIsWaitedFor) {
    support::redis_server server;
    const world here(server.url());
    const auto file = here.file("terms");
    const auto one = here.start(candidate(file));
    ASSERT_TRUE(soon_terms(file, 1)) << one->err();
    server.kill9();
    // The loss, that it stands again, and that it waits for the service.
    const auto sentences = [&] {
        const auto said = one->err();
        return std::count(said.begin(), said.end(), '\n');
    };
    ASSERT_TRUE(support::eventually([&] { return sentences() >= 3; }, std::chrono::seconds(30)))
        << one->err();
    EXPECT_FALSE(alive(terms_in(file)[0].command));
    EXPECT_TRUE(one->running());
    server.start(false);
    ASSERT_TRUE(
        support::eventually([&] { return terms_in(file).size() == 2; }, std::chrono::seconds(30)))
        << one->err();
    only_forward(file);
}

//   one leads | the server hangs: the command is killed, and one gives back in vain, for seconds |
//   SIGTERM to one: no command is there to have it
TEST(Elect, ASignalWhileTheLockIsGivenBackEndsIt) {
    support::redis_server server;
    const world here(server.url());
    const auto file = here.file("terms");
    const auto one = here.start(candidate(file));
    ASSERT_TRUE(soon_terms(file, 1)) << one->err();
    const auto command = terms_in(file)[0].command;
    server.freeze();
    ASSERT_TRUE(support::eventually([&] { return !alive(command); })) << one->err();
    one->signal(SIGTERM);
    EXPECT_EQ(one->wait().code, 70) << one->err();
    EXPECT_EQ(one->err().find("again"), std::string::npos) << one->err();
    server.thaw();
}

// 1. One leads, two stands in line and has never led. 2. The server dies and stays away until two
// has said so. 3. The server is back: somebody leads, and both are there.
TEST(Elect, WhoStandsInLineWaitsForAServiceThatGoesAway) {
    support::redis_server server;
    const world here(server.url());
    const auto file = here.file("terms");
    const auto one = here.start(candidate(file));
    ASSERT_TRUE(soon_terms(file, 1)) << one->err();
    const auto two = here.start(candidate(file));
    const auto waiters = [&] {
        return std::stoi(from_json(here.run({"status", "x", "--json"}).out, "it['waiters']"));
    };
    ASSERT_TRUE(support::eventually([&] { return waiters() == 1; }));
    server.kill9();
    const auto lines = [&] {
        const auto said = two->err();
        return std::count(said.begin(), said.end(), '\n');
    };
    ASSERT_TRUE(support::eventually([&] { return lines() >= 1 || !two->running(); },
                                    std::chrono::seconds(30)));
    EXPECT_TRUE(two->running()) << two->err();
    server.start(false);
    ASSERT_TRUE(support::eventually([&] { return terms_in(file).size() >= 2 && waiters() == 1; },
                                    std::chrono::seconds(60)))
        << one->err() << two->err();
    only_forward(file);
    for (const auto* each : {&one, &two})
        EXPECT_TRUE((*each)->running()) << (*each)->err();
}

// --wait counts while the service is away, too.
TEST(Elect, StandsNoLongerThanItWasToldWhileTheServiceIsAway) {
    support::redis_server server;
    const world here(server.url());
    const auto file = here.file("terms");
    const auto one = here.start(candidate(file, "30s"));
    ASSERT_TRUE(soon_terms(file, 1)) << one->err();
    const auto two = here.start({"elect", "--wait", "4s", "x", "--", "true"});
    ASSERT_TRUE(support::eventually([&] {
        return std::stoi(from_json(here.run({"status", "x", "--json"}).out, "it['waiters']")) == 1;
    }));
    server.kill9();
    EXPECT_EQ(two->wait().code, 69) << two->err();
}

// Its exit status is that of a service that is away, but no wait helps against it.
TEST(Elect, AnAnswerThatNobodyUnderstandsIsNoAbsence) {
    const support::scripted_server server([](support::conversation& with) {
        while (with.greet())
            with.send("-ERR odd\r\n");
    });
    const auto end = world(server.url()).run({"elect", "--wait", "20s", "x", "--", "true"});
    EXPECT_EQ(end.code, 69) << end.err;
    const auto first = end.err.find("ERR odd");
    ASSERT_NE(first, std::string::npos) << end.err;
    EXPECT_EQ(end.err.find("ERR odd", first + 1), std::string::npos) << end.err;
}

TEST(Elect, EndsWithItsCommand) {
    const world here;
    EXPECT_EQ(here.run({"elect", "x", "--", "sh", "-c", "exit 7"}).code, 7);
    EXPECT_EQ(here.run({"status", "x"}).code, 1) << "it has resigned";
    EXPECT_EQ(here.run({"elect", "x", "--", "no-such-command"}).code, 127);
    const auto as_if_away = here.run({"elect", "x", "--", "sh", "-c", "echo ran; exit 69"});
    EXPECT_EQ(as_if_away.code, 69);
    EXPECT_EQ(as_if_away.out, "ran\n");
}

TEST(Elect, SaysWhatIsWrong) {
    const world here;
    EXPECT_EQ(here.run({"elect", "x"}).code, 64);
    EXPECT_EQ(here.run({"elect", "x", "sleep", "1"}).code, 64);
    EXPECT_EQ(here.run({"elect", "--on-loss", "term", "x", "--", "true"}).code, 64);
    const auto away =
        here.run({"elect", "--wait", "4s", "--on", "redis://127.0.0.1:1", "x", "--", "true"});
    EXPECT_EQ(away.code, 69);
    EXPECT_NE(away.err.find("Waiting for the service: "), std::string::npos) << away.err;
    const auto file = here.file("terms");
    const auto one = here.start(candidate(file));
    ASSERT_TRUE(soon_terms(file, 1));
    EXPECT_EQ(here.run({"elect", "--wait", "100ms", "x", "--", "true"}).code, 75);
}

}  // namespace
