// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Each statement of a record by itself, in each dialect: what it changes, and each condition under
// which it changes nothing. MySQL's text of a claim is another one than that of the simulation.
#include "test_database.hpp"

#include <guard/once_statements.hpp>

#include <pawl/guard/schema.hpp>

namespace guard_tests {
namespace {

using guard::record_state;
using guard::record_view;
using namespace std::chrono_literals;

class OnceStatements : public database_test {
protected:
    OnceStatements() { guard::make_tables(db->view()); }

    [[nodiscard]] guard::once_statements of(const guard::once_key& key,
                                            const guard::once_options& options = {}) const {
        return {database->dialect(), key, options};
    }
    // A number of 16 bytes.
    static std::string number(char letter) { return std::string(16, letter); }

    std::uint64_t run(const guard::statement& to_run) { return db->view().execute(to_run).matched; }
    record_view look(const guard::once_key& key, char claim = '-') {
        const auto answer = db->view().execute(of(key).look(number(claim)));
        const auto record = guard::once_statements::read_record(answer);
        EXPECT_TRUE(record.has_value()) << key.key;
        return record.value_or(record_view());
    }
    // Whether the claim was granted, as MySQL's callers find out, too.
    bool claim(const guard::once_key& key, char letter, const guard::once_options& options = {},
               record_state state = record_state::pending) {
        const auto answer = db->view().execute(of(key, options).claim(number(letter), state));
        const bool is_own = look(key, letter).is_own_claim;
        if (const auto grant = guard::once_statements::read_grant(answer, number(letter))) {
            EXPECT_TRUE(is_own);
            EXPECT_EQ(grant->token, look(key).token);
            EXPECT_EQ(grant->attempts, look(key).attempts);
        }
        return is_own;
    }
    void end_lease() { db->run("UPDATE pawl_once SET lease_until = 0 WHERE state = 1"); }

    const std::unique_ptr<open_connection> db = database->connect();
};

TEST_P(OnceStatements, ClaimANewRecordAndTakeItOver) {
    ASSERT_TRUE(claim("k", 'a', {.lease = 10s}));
    const auto first = look("k");
    EXPECT_EQ(first.state, record_state::pending);
    EXPECT_EQ(first.attempts, 1U);
    EXPECT_GT(first.token, 1'000'000'000'000'000);
    EXPECT_GT(first.lease_left, 5s);
    EXPECT_LE(first.lease_left, 10s);
    EXPECT_FALSE(first.result.has_value());
    EXPECT_FALSE(claim("k", 'b')) << "its lease is not over";
    EXPECT_EQ(look("k").token, first.token);
    end_lease();
    // The clock may have been set back since.
    db->run("UPDATE pawl_once SET token = token + 1000000000000");
    ASSERT_TRUE(claim("k", 'b'));
    const auto second = look("k");
    EXPECT_EQ(second.token, first.token + 1'000'000'000'001) << "above the old token";
    EXPECT_EQ(second.attempts, 2U);
    EXPECT_GT(second.lease_left, 20s);
}

TEST_P(OnceStatements, DoNotClaimWhatIsNotFree) {
    const guard::once_options twice{.attempts = 2};
    ASSERT_TRUE(claim({"k", "request"}, 'a', twice));
    end_lease();
    EXPECT_FALSE(claim({"k", "another"}, 'b', twice));
    ASSERT_TRUE(claim({"k", "request"}, 'b', twice));
    end_lease();
    EXPECT_FALSE(claim({"k", "request"}, 'c', twice)) << "it has no attempts left";
    const auto before = look("k");
    for (const auto state : {record_state::done, record_state::failed}) {
        db->run("UPDATE pawl_once SET attempts = 0, lease_until = 0, state = " +
                std::to_string(static_cast<int>(state)));
        EXPECT_FALSE(claim({"k", "request"}, 'd', twice)) << "it has ended";
        EXPECT_EQ(look("k").state, state);
        EXPECT_EQ(look("k").token, before.token);
    }
}

TEST_P(OnceStatements, BeginARecordThatIsDone) {
    ASSERT_TRUE(claim("k", 'a', {.lease = 0s}, record_state::done));
    EXPECT_EQ(look("k").state, record_state::done);
    EXPECT_FALSE(claim("k", 'b', {.lease = 0s}, record_state::done));
    const auto token = look("k").token;
    EXPECT_EQ(run(of("k").finish(token, record_state::pending, record_state::done, "no")), 0U);
    EXPECT_EQ(run(of("k").finish(token, record_state::done, record_state::done, "yes")), 1U);
    EXPECT_EQ(look("k").result, "yes");
}

TEST_P(OnceStatements, EndOnlyTheirOwnRecord) {
    for (const auto* each : {"k", "other"}) {
        ASSERT_TRUE(claim(each, 'a'));
        ASSERT_TRUE(claim({each, "", "scope"}, 'b'));
    }
    db->run("UPDATE pawl_once SET token = 7");  // all equal
    const auto record = of("k");
    EXPECT_EQ(run(record.finish(6, record_state::pending, record_state::done, "no")), 0U);
    EXPECT_EQ(run(record.give_up(6, 0s)), 0U);
    EXPECT_EQ(run(record.exhaust(6)), 0U);
    EXPECT_EQ(run(record.give_up(7, 1h)), 1U);
    EXPECT_GT(look("k").lease_left, 59min);
    EXPECT_EQ(run(record.finish(7, record_state::pending, record_state::done, std::nullopt)), 1U);
    EXPECT_EQ(look("k").state, record_state::done);
    EXPECT_FALSE(look("k").result.has_value());
    EXPECT_EQ(run(record.finish(7, record_state::pending, record_state::failed, "no")), 0U);
    EXPECT_EQ(run(record.give_up(7, 0s)), 0U);
    EXPECT_EQ(run(record.exhaust(7)), 0U);
    EXPECT_EQ(run(of({"k", "", "scope"}).exhaust(7)), 1U);
    EXPECT_EQ(look({"k", "", "scope"}).state, record_state::failed);
    EXPECT_EQ(look("other").state, record_state::pending);
    EXPECT_LT(look("other").lease_left, 31s);
    EXPECT_EQ(db->number("SELECT count(*) FROM pawl_once WHERE state = 1"), 2);
}

TEST_P(OnceStatements, RefuseAStateOfANewerPawl) {
    ASSERT_TRUE(claim("k", 'a'));
    db->run("UPDATE pawl_once SET state = 4");
    const auto answer = db->view().execute(of("k").look(number('a')));
    EXPECT_THROW((void)guard::once_statements::read_record(answer), std::exception);
}

EVERY_DATABASE(OnceStatements);

}  // namespace
}  // namespace guard_tests
