// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Databases and works that behave as they should not: a call of `once` must end, and what it says
// must be true.
#include "once_fixture.hpp"
#include "rewriting_connection.hpp"

#include <pawl/guard/records.hpp>

namespace guard_tests {
namespace {

using namespace std::string_literals;
using guard::attempt;
using guard::outcome;

class OnceFaults : public once_test {
protected:
    [[nodiscard]] bool is(guard::dialect spoken) const { return database->dialect() == spoken; }
    // Fails in place of a loop without an end.
    [[nodiscard]] static guard::once_work at_most_twice(guard::once_work work, int& calls) {
        return [work = std::move(work), &calls](const attempt& claimed) -> outcome {
            if (++calls > 2) throw std::logic_error("the work is repeated for ever");
            return work(claimed);
        };
    }
    // Each UPDATE of a record is dropped without an error.
    void drop_updates() {
        if (is(guard::dialect::sqlite)) {
            admin->run(
                "CREATE TRIGGER dropped BEFORE UPDATE ON pawl_once "
                "BEGIN SELECT RAISE(IGNORE); END");
        } else {
            admin->run(
                "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS "
                "'BEGIN RETURN NULL; END'");
            admin->run(
                "CREATE TRIGGER dropped BEFORE UPDATE ON pawl_once "
                "FOR EACH ROW EXECUTE FUNCTION nothing()");
        }
    }
};

// Interleaving: work, COMMIT, and the database refuses it because of a deferred constraint. The
// record is gone with the effect, and the next attempt would be refused, too.
TEST_P(OnceFaults, PassesAnErrorOfTheCommit) {
    if (is(guard::dialect::mysql)) return;  // it has no deferred constraints
    admin->run("CREATE TABLE parents(id BIGINT PRIMARY KEY)");
    admin->run(
        "CREATE TABLE children(id BIGINT REFERENCES parents(id) "
        "DEFERRABLE INITIALLY DEFERRED)");
    if (is(guard::dialect::sqlite)) first->view().execute({"PRAGMA foreign_keys = ON"});
    for (const auto lease : {pawl::duration(30s), pawl::duration(0s)}) {
        int calls = 0;
        const auto orphan = [&](const attempt&) -> outcome {
            first->view().execute({"INSERT INTO children(id) VALUES(1)"});
            return "made"s;
        };
        const guard::once_options options{.lease = lease};
        EXPECT_THROW(first->once("order/7", options, at_most_twice(orphan, calls)),
                     guard::database_error)
            << lease / 1s;
        EXPECT_EQ(calls, 1);
        EXPECT_EQ(admin->number("SELECT count(*) FROM children"), 0);
    }
}

// Interleaving: the work at the outside is done, its transaction is still open, and the end of the
// record would be written into it: `done`, and then a rollback.
TEST_P(OnceFaults, RefusesWorkThatLeavesATransactionOpen) {
    const auto refused = refusal_of([&] {
        (void)first->at_least_once("mail/7", {}, [&](const attempt&) -> outcome {
            first->view().execute({is(guard::dialect::mysql) ? "START TRANSACTION" : "BEGIN"});
            return "sent"s;
        });
    });
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->reason(), pawl::errc::unsupported);
    first->view().execute({"ROLLBACK"});
    EXPECT_EQ(admin->number("SELECT state FROM pawl_once"), 1) << "the record is not done";
}

// Interleaving: the first attempt stops for longer than the lease, another one takes over and ends
// the operation, `keep` is over, and the record is purged. Then the first one goes on. It must not
// begin the operation again: it was called before the effect.
TEST_P(OnceFaults, DoesNotRepeatAnOperationWhoseRecordWasPurged) {
    int calls = 0;
    const auto paused = [&](const attempt&) -> outcome {
        end_leases();
        (void)other->at_least_once("mail/7", {}, writes(*other, "by the other"));
        admin->run("UPDATE pawl_once SET keep_until = 0");
        EXPECT_EQ(guard::purge(admin->view()), 1U);
        return "late"s;
    };
    const auto refused =
        refusal_of([&] { (void)first->at_least_once("mail/7", {}, at_most_twice(paused, calls)); });
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->reason(), pawl::errc::lost) << refused->what();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(effects(), 1);
}

// Interleaving: claim, work, and an end that changes nothing, although nobody has taken over. The
// work would be repeated until the lease ends, without a pause.
TEST_P(OnceFaults, NoticesThatTheRecordCannotBeEnded) {
    if (is(guard::dialect::mysql)) return;  // its triggers drop no statement
    drop_updates();
    for (const bool is_inside : {true, false}) {
        int calls = 0;
        const auto key = is_inside ? "order/7" : "mail/7";
        const auto work = at_most_twice(writes(*first, "made"), calls);
        const auto refused = refusal_of([&] {
            if (is_inside)
                (void)first->once(key, {}, work);
            else
                (void)first->at_least_once(key, {}, work);
        });
        ASSERT_TRUE(refused);
        EXPECT_EQ(refused->reason(), pawl::errc::protocol) << refused->what();
        EXPECT_EQ(calls, 1);
    }
    EXPECT_EQ(effects(), 1) << "the one outside";
}

TEST_P(OnceFaults, SaysThatALongReasonIsNotKept) {
    const guard::once_options small{.largest_result = 3};
    const auto no = [](const attempt&) -> outcome { return guard::rejected{"four"}; };
    const auto told = first->once("order/7", small, no);
    EXPECT_EQ(told.value, "four");
    EXPECT_FALSE(told.has_value);
    const auto again = other->once("order/7", small, no);
    EXPECT_EQ(again.state, once_state::failed);
    EXPECT_FALSE(again.has_value);
}

TEST_P(OnceFaults, ChecksTheOptionsOfFinish) {
    const auto claimed = first->claim("order/7", {});
    ASSERT_TRUE(claimed);
    const auto refused =
        refusal_of([&] { (void)first->finish(*claimed.attempt, "made"s, {.keep = 0s}); });
    ASSERT_TRUE(refused) << "the record would be purged at once";
    EXPECT_EQ(refused->reason(), pawl::errc::bad_option);
    EXPECT_TRUE(first->finish(*claimed.attempt, "made"s, {}));
}

EVERY_DATABASE_AND_API(OnceFaults);

class OnceStop : public database_test {};

// Interleaving: the effect outside has happened, the end of its record loses against another
// transaction, and the caller is told to stop. A stop must not leave the record open: the next
// caller would repeat the effect.
TEST_P(OnceStop, DoesNotKeepTheEndOfAnEffectFromItsRecord) {
    const auto opened = database->connect();
    guard::make_tables(opened->view());
    std::stop_source stop;
    int conflicts = 0;
    const auto before = [&](const std::string& text) {
        if (text.starts_with("UPDATE pawl_once SET state") && conflicts++ == 0)
            throw guard::conflict("a deadlock");
    };
    rewriting_connection view(opened->view(), {}, before);
    const auto work = [&](const attempt&) -> outcome {
        stop.request_stop();
        return "sent"s;
    };
    EXPECT_EQ(guard::at_least_once(view, "mail/7", {}, work, stop.get_token()).state,
              once_state::done);
    EXPECT_EQ(opened->number("SELECT state FROM pawl_once"), 2);
}

TEST_P(OnceStop, DoesNotEndTheWork) {
    const auto opened = database->connect();
    guard::make_tables(opened->view());
    opened->run("CREATE TABLE effects(id BIGINT)");
    std::stop_source stop;
    const auto work = [&](const attempt&) -> outcome {
        stop.request_stop();
        opened->run("INSERT INTO effects(id) VALUES(1)");
        return "made"s;
    };
    EXPECT_EQ(guard::once(opened->view(), "order/7", {}, work, stop.get_token()).state,
              once_state::done);
    EXPECT_EQ(opened->number("SELECT count(*) FROM effects"), 1);
}

EVERY_DATABASE(OnceStop);

}  // namespace
}  // namespace guard_tests
