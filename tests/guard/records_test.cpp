// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The records and the tables of `once`: keys as bytes, what stays, what is purged, and tables that
// are not as Pawl makes them.
#include "once_fixture.hpp"

#include <guard/dialect_text.hpp>
#include <pawl/guard/records.hpp>

#include <thread>
#include <utility>

namespace guard_tests {
namespace {

using namespace std::string_literals;
using guard::attempt;
using guard::outcome;

outcome done_work(const attempt&) { return "done"s; }
outcome rejecting_work(const attempt&) { return guard::rejected{"no"}; }

class OnceRecords : public database_test {
protected:
    OnceRecords() { guard::make_tables(admin->view()); }

    once_state run(const guard::once_key& key, const guard::once_work& work = done_work) {
        return guard::once(admin->view(), key, {.wait = 0s}, work).state;
    }
    // With a new view, which checks the tables.
    std::string refusal() {
        const auto opened = database->connect();
        return refusal_of(pawl::errc::refused,
                          [&] { (void)guard::once(opened->view(), "a", {}, done_work); });
    }

    const std::unique_ptr<open_connection> admin = database->connect();
};

// A database that compares texts would take some of these for one.
TEST_P(OnceRecords, TellsAllKeysApart) {
    const std::string longest(255, 'x');
    const std::vector<std::string> keys{"Key-1",
                                        "key-1",
                                        "key-1 ",
                                        " key-1",
                                        "k\xC3\xA9y-1",
                                        "key-1\0"s,
                                        "\xFF\x00\xFE"s,
                                        "'; DROP TABLE pawl_once; --",
                                        longest,
                                        longest.substr(1),
                                        "\\",
                                        "$1",
                                        "?"};
    for (const auto& each : keys)
        EXPECT_EQ(run(each), once_state::done) << each;
    for (const auto& each : keys)
        EXPECT_EQ(run(each), once_state::replayed) << each;
    for (const auto& each : keys)
        EXPECT_EQ(run({each, "", "scope"}), once_state::done) << each;
    EXPECT_EQ(admin->number("SELECT count(*) FROM pawl_once"),
              2 * static_cast<std::int64_t>(keys.size()));
    EXPECT_EQ(run({"ab", "", "c"}), once_state::done);
    EXPECT_EQ(run({"b", "", "ca"}), once_state::done);
}

TEST_P(OnceRecords, ListsWhatNeedsSomebody) {
    guard::once_options options;
    for (const auto* each : {"c", "a", "b"})
        ASSERT_TRUE(guard::claim(admin->view(), {each, "", "s"}, options));
    EXPECT_EQ(run({"failed", "", "s"}, rejecting_work), once_state::failed);
    EXPECT_EQ(run("done"), once_state::done);
    EXPECT_TRUE(guard::unfinished(admin->view()).empty()) << "their leases are not over";
    admin->run("UPDATE pawl_once SET lease_until = lease_until - 3600000000 WHERE state = 1");
    EXPECT_TRUE(guard::unfinished(admin->view(), 2h).empty());
    const auto first = guard::unfinished(admin->view(), 30min, {}, 2);
    ASSERT_EQ(first.size(), 2U);
    EXPECT_EQ(first[0].key + first[1].key, "ab");
    EXPECT_EQ(first[0].scope, "s");
    EXPECT_EQ(first[0].attempts, 1U);
    EXPECT_GT(first[0].token.value(), 0U);
    EXPECT_GT(first[0].overdue, 59min);
    const auto rest = guard::unfinished(admin->view(), 30min, {first[1].scope, first[1].key}, 2);
    ASSERT_EQ(rest.size(), 1U);
    EXPECT_EQ(rest[0].key, "c");
    admin->run("UPDATE pawl_once SET lease_until = lease_until + 31536000000000 WHERE state = 3");
    const auto for_a_person = guard::failed(admin->view());  // the clock has gone back by a year
    ASSERT_EQ(for_a_person.size(), 1U);
    EXPECT_EQ(for_a_person[0].key, "failed");
    EXPECT_EQ(for_a_person[0].why, "no");
}

TEST_P(OnceRecords, ListsFailedOnesInTheOrderOfScopeAndKey) {
    for (const auto& [scope, key] :
         {std::pair{"b", "1"}, {"", "z"}, {"a", "2"}, {"a", "1"}, {"", "y"}})
        EXPECT_EQ(run({key, "", scope}, rejecting_work), once_state::failed);
    const auto listed = [&](const guard::once_position& after, std::uint32_t limit) {
        std::string text;
        for (const auto& each : guard::failed(admin->view(), after, limit))
            text += each.scope + "/" + each.key + " ";
        return text;
    };
    EXPECT_EQ(listed({}, 100), "/y /z a/1 a/2 b/1 ");
    EXPECT_EQ(listed({}, 3), "/y /z a/1 ");
    EXPECT_EQ(listed({"a", "1"}, 1), "a/2 ");
    EXPECT_EQ(listed({"a", "2"}, 3), "b/1 ");
    EXPECT_EQ(listed({"b", "1"}, 3), "");
}

// MySQL would commit the transaction.
TEST_P(OnceRecords, MakesNoTablesInAnOpenTransaction) {
    admin->run("DROP TABLE pawl_once");
    admin->run(database->dialect() == guard::dialect::mysql ? "START TRANSACTION" : "BEGIN");
    try {
        guard::make_tables(admin->view());
        ADD_FAILURE() << "it was not refused";
    } catch (const pawl::error& refused) {
        EXPECT_EQ(refused.reason(), pawl::errc::unsupported) << refused.what();
    }
    EXPECT_TRUE(admin->view().in_transaction()) << "nothing was done";
    admin->run("ROLLBACK");
    guard::make_tables(admin->view());
    EXPECT_EQ(refusal(), "");
}

// The statement of docs/guide/once.md. SQLite's bytes equal no text.
TEST_P(OnceRecords, LetAFailedOperationBeTriedAgain) {
    const auto bytes = [&](const std::string& text) {
        const auto literal = "'" + text + "'";
        return database->dialect() == guard::dialect::sqlite ? "CAST(" + literal + " AS BLOB)"
                                                             : literal;
    };
    EXPECT_EQ(run("charge/7", rejecting_work), once_state::failed);
    EXPECT_EQ(run({"charge/7", "", "other"}, rejecting_work), once_state::failed);
    admin->run("UPDATE pawl_once SET state = 1, attempts = 0, lease_until = 0 WHERE scope = " +
               bytes("") + " AND once_key = " + bytes("charge/7"));
    EXPECT_EQ(run("charge/7"), once_state::done);
    EXPECT_EQ(run({"charge/7", "", "other"}), once_state::failed);
}

// Interleaving: a record is over its `keep`; it is purged, and the key is used again. The token of
// the new operation is larger, so a late attempt of the old one changes nothing.
TEST_P(OnceRecords, PurgesWhatIsOver) {
    const auto old = guard::claim(admin->view(), "again", {});
    ASSERT_TRUE(old);
    ASSERT_TRUE(guard::finish(admin->view(), *old.attempt, "old"s, {}));
    EXPECT_EQ(run("failed", rejecting_work), once_state::failed);
    ASSERT_TRUE(guard::claim(admin->view(), "pending", {}));
    EXPECT_EQ(guard::purge(admin->view()), 0U) << "their keep is not over";
    admin->run("UPDATE pawl_once SET keep_until = 1, lease_until = 1");
    EXPECT_EQ(guard::purge(admin->view(), 1), 1U);
    EXPECT_EQ(guard::purge(admin->view(), 1), 1U);
    EXPECT_EQ(guard::purge(admin->view(), 1), 0U) << "a pending record stays";
    EXPECT_EQ(admin->number("SELECT count(*) FROM pawl_once"), 1);
    // SQLite's clock has steps of 1 ms.
    const auto clock = "SELECT " + std::string(guard::clock_of(database->dialect()));
    while (static_cast<std::uint64_t>(admin->number(clock)) <= old.attempt->token().value()) {}
    const auto again = guard::claim(admin->view(), "again", {});
    ASSERT_TRUE(again);
    EXPECT_GT(again.attempt->token(), old.attempt->token());
    EXPECT_FALSE(guard::finish(admin->view(), *old.attempt, "late"s, {}));
}

// The database's clock counts, and not this program's.
TEST_P(OnceRecords, CountsLeasesByTheClockOfTheDatabase) {
    const auto claimed = guard::claim(admin->view(), "a", {.lease = 1h, .keep = 3h});
    ASSERT_TRUE(claimed);
    const auto until = admin->number("SELECT lease_until FROM pawl_once") - 3600LL * 1000000;
    const auto token = admin->number("SELECT token FROM pawl_once");
    EXPECT_NEAR(static_cast<double>(until), static_cast<double>(token), 60e6);
    ASSERT_TRUE(guard::finish(admin->view(), *claimed.attempt, "b"s, {.lease = 1h, .keep = 3h}));
    const auto keep = admin->number("SELECT keep_until FROM pawl_once") - 3 * 3600LL * 1000000;
    EXPECT_NEAR(static_cast<double>(keep), static_cast<double>(token), 60e6);
}

TEST_P(OnceRecords, RefusesTablesOfAnotherForm) {
    EXPECT_EQ(refusal(), "");
    admin->run("UPDATE pawl_schema SET version = 2 WHERE part = 'pawl_once'");
    EXPECT_NE(refusal().find("newer Pawl"), std::string::npos) << refusal();
    admin->run("DELETE FROM pawl_schema");
    EXPECT_NE(refusal().find("pawl schema"), std::string::npos) << refusal();
    guard::make_tables(admin->view());
    EXPECT_EQ(refusal(), "") << "make_tables adds what is missing";
    admin->run("ALTER TABLE pawl_once ADD COLUMN extra INTEGER");
    EXPECT_NE(refusal().find("another form"), std::string::npos) << refusal();
    admin->run("ALTER TABLE pawl_once RENAME TO away");
    EXPECT_NE(refusal().find("is missing"), std::string::npos) << refusal();
    guard::make_tables(admin->view());
    guard::check_tables(admin->view());
    EXPECT_EQ(refusal(), "");
}

// Several services make the tables as they begin.
TEST_P(OnceRecords, MakesTablesInSeveralCallersAtOnce) {
    admin->run("DROP TABLE pawl_once");
    admin->run("DROP TABLE pawl_schema");
    std::vector<std::unique_ptr<open_connection>> opened;
    for (int i = 0; i < 4; ++i)
        opened.push_back(database->connect());
    {
        std::vector<std::jthread> threads;
        for (auto& each : opened)
            threads.emplace_back([&each] { EXPECT_NO_THROW(guard::make_tables(each->view())); });
    }
    EXPECT_EQ(refusal(), "");
}

// Each bad argument has a sentence of its own, and nothing is written.
TEST_P(OnceRecords, RefusesWhatCannotBeUsed) {
    struct bad_call {
        guard::once_key key;
        guard::once_options options;
        std::string part;
    };
    const std::string too_long(256, 'k');
    const std::vector<bad_call> calls{{"", {}, "1 to 255"},
                                      {too_long, {}, "256 bytes"},
                                      {{"a", "", std::string(65, 's')}, {}, "65 bytes"},
                                      {"a", {.lease = 99ms}, "100 ms"},
                                      {"a", {.lease = 25h, .keep = 100h}, "24 h"},
                                      {"a", {.lease = 30s, .keep = 59s}, "twice the lease"},
                                      {"a", {.keep = 24h * 4000}, "ten years"},
                                      {"a", {.wait = -1ns}, "less than 0"},
                                      {"a", {.attempts = 0}, "attempts"},
                                      {"a", {.largest_result = 17U << 20}, "16 MiB"}};
    for (const auto& each : calls) {
        try {
            (void)guard::once(admin->view(), each.key, each.options, done_work);
            ADD_FAILURE() << each.part;
        } catch (const pawl::error& refused) {
            EXPECT_EQ(refused.reason(), pawl::errc::bad_option);
            EXPECT_NE(std::string(refused.what()).find(each.part), std::string::npos)
                << refused.what();
        }
    }
    const auto code_of = [](const std::function<void()>& call) {
        try {
            call();
        } catch (const pawl::error& refused) {
            return refused.reason();
        }
        return pawl::errc::timed_out;
    };
    EXPECT_EQ(code_of([&] { (void)guard::claim(admin->view(), "a", {.lease = 0s}); }),
              pawl::errc::bad_option);
    EXPECT_EQ(
        code_of([&] { (void)guard::at_least_once(admin->view(), "a", {.lease = 0s}, done_work); }),
        pawl::errc::bad_option);
    admin->run("BEGIN");
    EXPECT_EQ(code_of([&] { (void)guard::once(admin->view(), "a", {}, done_work); }),
              pawl::errc::unsupported)
        << "a claim inside an open transaction protects nothing until its commit";
    admin->run("ROLLBACK");
    EXPECT_EQ(admin->number("SELECT count(*) FROM pawl_once"), 0);
}

TEST_P(OnceRecords, EndsAWaitThatIsCancelled) {
    ASSERT_TRUE(guard::claim(admin->view(), "a", {}));
    const auto waiting = database->connect();
    std::stop_source cancel;
    std::jthread canceller([&] { cancel.request_stop(); });
    try {
        (void)guard::once(waiting->view(), "a", {.wait = 10min}, done_work, cancel.get_token());
        FAIL() << "it did not wait";
    } catch (const pawl::error& ended) {
        EXPECT_EQ(ended.reason(), pawl::errc::cancelled);
    }
}

EVERY_DATABASE(OnceRecords);

}  // namespace
}  // namespace guard_tests
