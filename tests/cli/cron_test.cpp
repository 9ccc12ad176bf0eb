// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl cron` on one host.
#include "command.hpp"

#include <pawl/blocking.hpp>
#include <pawl/guard/open_database.hpp>
#include <pawl/guard/schedule_watch.hpp>

#include <gtest/gtest.h>

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace {

using namespace cli_test;
using namespace std::chrono_literals;
using pawl::guard::tick_record;
using pawl::guard::tick_state;

class Cron : public ::testing::Test {
protected:
    std::string write(const std::string& lines) const {
        const auto path = sandbox.file("schedules");
        std::ofstream(path) << lines;
        return path;
    }
    // One schedule, every second; `OUT` in the command is the file `out`.
    [[nodiscard]] std::unique_ptr<started_process> start(const std::string& options,
                                                         std::string command) const {
        for (auto at = command.find("OUT"); at != std::string::npos; at = command.find("OUT"))
            command.replace(at, 3, out);
        return sandbox.start(
            {"cron", "-v", write("* * * * * *  tick  " + options + "  " + command + "\n")});
    }
    [[nodiscard]] std::vector<tick_record> records() const {
        if (!std::filesystem::exists(sandbox.file(".local/state/pawl/locks.db.records"))) return {};
        const auto database = pawl::guard::open_database(url);
        pawl::guard::sql_tick_records all(*database);
        try {
            return all.history("tick", 1000);
        } catch (const pawl::guard::database_error&) {
            return {};  // the table is not there yet
        }
    }
    // Waits for a record like this.
    template <class Condition>
    [[nodiscard]] bool eventually_recorded(Condition condition) const {
        return support::eventually([&] {
            for (const auto& each : records())
                if (condition(each)) return true;
            return false;
        });
    }
    [[nodiscard]] std::vector<std::string> lines() const {
        std::istringstream text(read_file(out));
        std::vector<std::string> all;
        for (std::string line; std::getline(text, line);)
            all.push_back(line);
        return all;
    }

    const test_sandbox sandbox;
    const std::string out = sandbox.file("out");
    const std::string url = "sqlite:" + sandbox.file(".local/state/pawl/locks.db");
};

TEST_F(Cron, RunsEachTickOnce) {
    const auto cron = start("overlap=wait,catch_up=all,late=1h",
                            R"(printf '%s %s %s\n' "$PAWL_TICK" "$PAWL_NAME" "$PAWL_TOKEN" >>OUT)");
    EXPECT_TRUE(support::eventually([&] { return lines().size() >= 3; })) << cron->err();
    cron->signal(SIGTERM);
    EXPECT_EQ(cron->wait().code, 0);
    std::set<std::string> keys;
    std::uint64_t last_token = 0;
    for (const auto& line : lines()) {
        std::istringstream words(line);
        std::string key, name;
        std::uint64_t token = 0;
        words >> key >> name >> token;
        EXPECT_TRUE(keys.insert(key).second) << key;
        EXPECT_EQ(name, "tick");
        EXPECT_GT(token, last_token);
        last_token = token;
    }
    const auto all = records();
    EXPECT_EQ(all.size(), keys.size());
    for (const auto& each : all) {
        EXPECT_TRUE(keys.contains(each.key));
        EXPECT_EQ(each.state, tick_state::done);
        EXPECT_EQ(each.status, 0);
        EXPECT_EQ(each.attempts, 1U);
    }
    const auto history = sandbox.run({"cron", "--history", "--name", "tick", "--json"});
    EXPECT_EQ(from_json(history.out, "len(it), it[0]['name'], it[0]['status']"),
              std::to_string(all.size()) + " tick 0");
    EXPECT_NE(sandbox.run({"cron", "--history"}).out.find(all.front().key), std::string::npos);
}

TEST_F(Cron, RecordsTheExitStatus) {
    const auto cron = start("", "exit 37");
    EXPECT_TRUE(eventually_recorded([](const tick_record& each) {
        return each.state == tick_state::done && each.status == 37;
    }));
    EXPECT_TRUE(support::eventually(
        [&] { return cron->err().find("The exit status of 'tick' of ") != std::string::npos; }));
}

TEST_F(Cron, SkipsAnOverlap) {
    const auto cron = start("", "sleep 600");
    EXPECT_TRUE(
        eventually_recorded([](const tick_record& each) { return each.reason == "overlap"; }));
    EXPECT_EQ(records().back().state, tick_state::running);
}

TEST_F(Cron, LeavesALockOfAnotherProgramAlone) {
    const auto holder = sandbox.start({"run", "tick", "--", "sleep", "600"});
    ASSERT_TRUE(sandbox.eventually_held("tick"));
    const auto cron = start("late=1s", "touch OUT");
    EXPECT_TRUE(eventually_recorded([](const tick_record& each) {
        return each.state == tick_state::skipped && each.reason == "the lock was not free";
    })) << cron->err();
    EXPECT_FALSE(std::filesystem::exists(out));
    holder->signal(SIGTERM);
    EXPECT_TRUE(support::eventually([&] { return std::filesystem::exists(out); }));
}

// A claims a tick, acquires its lock and stalls. Its claim is abandoned: B claims the tick, and
// finds the lock taken. A goes on, is refused, and releases the lock. B must run the tick: nobody
// did.
TEST_F(Cron, ATickOutlivesAHostThatStallsBeforeItsBeginning) {
    std::filesystem::create_directories(sandbox.file(".local/state/pawl"));
    const auto database = pawl::guard::open_database(url);
    pawl::guard::sql_tick_records stalled(*database);
    stalled.make_schema();
    const auto due = std::chrono::floor<std::chrono::seconds>(stalled.look("tick").now);
    database->execute({"UPDATE pawl_tick SET settled = settled - 1000000"});
    const auto tick = pawl::guard::cron_schedule::parse("* * * * * *").next(due - 1s).value();
    const pawl::guard::tick_claim claim{.name = "tick",
                                        .key = tick.key,
                                        .due = due,
                                        .claim = pawl::guard::random_claim(),
                                        .host = "a"};
    ASSERT_EQ(stalled.claim(claim, due, 1us), pawl::guard::claim_answer::claimed);
    pawl::blocking::client locks(pawl::from_url(url));
    auto held = locks.acquire("tick");

    const auto cron = start("late=1h,catch_up=all", "echo \"$PAWL_TICK\" >>OUT");
    ASSERT_TRUE(support::eventually([&] { return locks.inspect("tick").waiters == 1; }))
        << cron->err();
    EXPECT_FALSE(stalled.begin(claim, held.token(), due + 1h, 30s));
    static_cast<void>(held.release());
    EXPECT_TRUE(eventually_recorded([&](const tick_record& each) {
        return each.key == tick.key && each.state == tick_state::done && each.attempts == 1;
    })) << cron->err();
    EXPECT_EQ(lines().at(0), tick.key);
}

TEST_F(Cron, EndsACommandThatLastsTooLong) {
    const auto cron = start("max=1s", "sleep 600");
    EXPECT_TRUE(eventually_recorded([](const tick_record& each) {
        return each.status == 70 && each.reason == "the lock was lost";
    })) << cron->err();
}

TEST_F(Cron, EndsACommandWhoseLockWasReleased) {
    const auto cron = start("", "sleep 600");
    ASSERT_TRUE(sandbox.eventually_held("tick"));
    EXPECT_EQ(sandbox.run({"release", "--force", "--yes", "tick"}).code, 0);
    EXPECT_TRUE(eventually_recorded([](const tick_record& each) {
        return each.status == 70 && each.reason == "the lock was lost";
    })) << cron->err();
}

TEST_F(Cron, WaitsForCommandsAtTheFirstSignalAndEndsThemAtTheSecond) {
    const auto cron = start("", R"(trap 'exit 3' TERM; touch OUT; while :; do sleep 0.01; done)");
    ASSERT_TRUE(support::eventually([&] { return std::filesystem::exists(out); }));
    cron->signal(SIGTERM);
    EXPECT_TRUE(support::eventually([&] {
        return cron->err().find("a second signal is passed on to them") != std::string::npos;
    })) << cron->err();
    EXPECT_TRUE(cron->is_running());
    cron->signal(SIGTERM);
    EXPECT_EQ(cron->wait().code, 0);
    EXPECT_EQ(records().back().status, 3);
}

// The tick is given back: another host may have it at once.
TEST_F(Cron, ASignalEndsTheWaitForALock) {
    std::filesystem::create_directories(sandbox.file(".local/state/pawl"));
    pawl::blocking::client locks(pawl::from_url(url));
    const auto held = locks.acquire("tick");
    const auto cron = start("late=1h,catch_up=all", "touch OUT");
    ASSERT_TRUE(support::eventually([&] { return locks.inspect("tick").waiters == 1; }))
        << cron->err();
    cron->signal(SIGTERM);
    EXPECT_EQ(cron->wait().code, 0);
    const auto all = records();
    EXPECT_TRUE(std::ranges::any_of(all, [](const tick_record& each) {
        return each.state == tick_state::claimed && each.attempts == 0;
    })) << cron->err();
    EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(Cron, ACommandOutlivesItsScheduler) {
    const auto cron = start("", "touch OUT; while test -e OUT; do sleep 0.01; done; exit 4");
    ASSERT_TRUE(support::eventually([&] { return std::filesystem::exists(out); }));
    cron->signal(SIGKILL);
    static_cast<void>(cron->wait());
    EXPECT_EQ(records().back().state, tick_state::running);
    std::filesystem::remove(out);
    EXPECT_TRUE(eventually_recorded([](const tick_record& each) {
        return each.state == tick_state::done && each.status == 4;
    }));
}

// The process of the tick dies, and its command with it.
TEST_F(Cron, RecordsACrash) {
    const auto cron = start("ttl=1s", "echo x >>OUT; sleep 600");
    ASSERT_TRUE(support::eventually([&] { return lines().size() == 1; }));
    ::kill(child_named(cron->pid(), "pawl"), SIGKILL);
    EXPECT_TRUE(eventually_recorded([](const tick_record& each) {
        return each.state == tick_state::crashed && each.attempts == 1;
    })) << cron->err();
}

TEST_F(Cron, RepeatsATickAfterACrashIfItMay) {
    const auto cron = start("ttl=1s,attempts=2,overlap=wait",
                            R"(echo "$PAWL_TICK" >>OUT; test $(grep -c . OUT) -ge 2 || sleep 600)");
    ASSERT_TRUE(support::eventually([&] { return lines().size() == 1; }));
    ::kill(child_named(cron->pid(), "pawl"), SIGKILL);
    EXPECT_TRUE(eventually_recorded([&](const tick_record& each) {
        return each.key == lines().at(0) && each.state == tick_state::done && each.attempts == 2;
    })) << cron->err();
}

TEST_F(Cron, ChecksAFile) {
    const auto path = write(
        "# a comment\n\n"
        "30 2 * * *  nightly  max=2h,late=10m  /usr/bin/repair --all\n"
        "TZ=Europe/Berlin\n"
        "0 30 2 * * mon-fri  six  FOO=1 true\n"
        "@every 90s  often  zone=UTC  true\n");
    const auto text = sandbox.run({"cron", "--check", path});
    EXPECT_EQ(text.code, 0);
    EXPECT_NE(text.out.find("nightly  30 2 * * *"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("/usr/bin/repair --all"), std::string::npos) << text.out;
    const auto result = sandbox.run({"cron", "--check", "--json", path});
    EXPECT_EQ(from_json(result.out, "[each['name'] for each in it]"),
              "['nightly', 'six', 'often']");
    EXPECT_EQ(from_json(result.out, "[each['command'] for each in it]"),
              "['/usr/bin/repair --all', 'FOO=1 true', 'true']");
    EXPECT_EQ(from_json(result.out, "it[1]['schedule'], it[1]['zone'], it[2]['zone']"),
              "0 30 2 * * mon-fri Europe/Berlin UTC");
}

TEST_F(Cron, AcceptsTheFileOfThePage) {
    const auto page = read_file(PAWL_SOURCE_DIR "/docs/guide/schedules.md");
    const auto first = page.find("```\n# The same file") + 4;
    const auto result = sandbox.run(
        {"cron", "--check", write(page.substr(first, page.find("```", first) - first))});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.out.find("invoices"), std::string::npos);
}

TEST_F(Cron, RefusesEachMistakeWithASentence) {
    const auto path = write(
        "61 * * * *  a  true\n"
        "0 0 * * *  b\n"
        "0 0 * * *  c  late=0  true\n"
        "0 0 * * *  d  depth=1  true\n"
        "0 0 * * *  e  overlap=maybe  true\n"
        "0 0 * * *  f  true\n"
        "0 0 * * *  f  true\n"
        "PATH=/bin\n"
        "TZ=Mars/Phobos\n"
        "0 0 30 2 *  g  true\n"
        "* *\n"
        "0 0 * * *  h  late=5min, max=2h  true\n"
        "0 0 * * *  i  late=5min,late=2h  true\n"
        "0 0 * * *  mon  true\n"
        "* * * * * * *  j  true\n"
        "0 0 * * *  /usr/bin/repair --all\n"
        "0 0 * *  orders/nightly  true\n"
        "0 0 * * *  later  true\n");
    const auto checked = sandbox.run({"cron", "--check", path});
    EXPECT_EQ(checked.code, 78);
    for (const std::string sentence :
         {"line 1: The minute '61' of the schedule is out of range; give 0 to 59.",
          "line 2: The command is missing after the schedule '0 0 * * *'; write the schedule,",
          "line 3: The option late of a schedule is out of range; give 1s to 31d.",
          "line 4: The option 'depth' is unknown; there are max, late, overlap,",
          "line 5: The option overlap=maybe is not valid; use skip, wait or allow.",
          "line 7: 'f' is also the name of line 6; give each schedule its own name.",
          "line 8: Only TZ can be set in this file; set 'PATH' in the environment",
          "line 9: The time zone 'Mars/Phobos' is unknown on this host;",
          "line 10: The schedule '0 0 30 2 *' is never due,",
          "line 11: The schedule '* *' has 2 fields;",
          "line 12: The option '' has no value; write NAME=VALUE, and commas without blanks",
          "line 13: The option late is there twice; keep one of them.",
          "line 14: The command is missing after the schedule '0 0 * * * mon';",
          "line 15: The name '*' after the schedule '* * * * * *' looks like another field;",
          "line 16: The name '/usr/bin/repair' looks like a command; write a name before",
          "line 17: The day of week 'orders/nightly' of the schedule is not understood;"})
        EXPECT_NE(checked.err.find(sentence), std::string::npos) << sentence << checked.err;
    EXPECT_NE(checked.out.find("\nf "), std::string::npos) << checked.out;
    EXPECT_EQ(checked.out.find("later"), std::string::npos) << "its time zone is not valid";
    const auto started = sandbox.run({"cron", path});
    EXPECT_EQ(started.code, 78);
    EXPECT_NE(started.err.find("line 1: The minute"), std::string::npos);
    EXPECT_EQ(started.err.find("line 2"), std::string::npos) << "one sentence";
    EXPECT_EQ(sandbox.run({"cron"}).code, 64);
    EXPECT_EQ(sandbox.run({"cron", "--check"}).code, 64);
    EXPECT_EQ(sandbox.run({"cron", "--check", "--history", path}).code, 64);
    EXPECT_EQ(sandbox.run({"cron", "--history", path}).code, 64);
    const auto none = sandbox.run({"cron", "--history", "--last", "0"});
    EXPECT_EQ(none.code, 64);
    EXPECT_NE(none.err.find("'0' is not valid for --last; use a whole number from 1"),
              std::string::npos);
    EXPECT_EQ(sandbox.run({"cron", sandbox.file("absent")}).code, 66);
}

TEST_F(Cron, SaysWhyThereIsNoHistory) {
    const auto mistyped = sandbox.file("mistyped.db");
    const auto no_file = sandbox.run({"cron", "--history", "--on", "sqlite:" + mistyped});
    EXPECT_EQ(no_file.code, 77) << no_file.err;
    EXPECT_NE(no_file.err.find(".records, so no program has stored records there"),
              std::string::npos)
        << no_file.err;
    EXPECT_FALSE(std::filesystem::exists(mistyped + ".records"));
    (void)sandbox.run({"status", "it"});
    (void)pawl::guard::open_database(url);  // makes the file
    const auto history = sandbox.run({"cron", "--history"});
    EXPECT_EQ(history.code, 77);
    EXPECT_NE(history.err.find(" has no ticks: `pawl cron` has not run there yet."),
              std::string::npos)
        << history.err;
    const auto redis = sandbox.run({"cron", "--on", "redis://127.0.0.1:1", "--history"});
    EXPECT_EQ(redis.code, 64);
    EXPECT_NE(redis.err.find(" keeps no records of ticks, so it has no history"),
              std::string::npos);
}

TEST_F(Cron, PrintsTheSchema) {
    const auto schema = sandbox.run({"cron", "--schema", "--on", "sqlite:" + sandbox.file("x.db")});
    EXPECT_EQ(schema.code, 0);
    EXPECT_NE(schema.out.find("CREATE TABLE IF NOT EXISTS pawl_tick ("), std::string::npos);
}

}  // namespace
