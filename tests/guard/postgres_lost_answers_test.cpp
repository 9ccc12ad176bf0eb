// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The connection to PostgreSQL is cut at each statement of `once`, before it arrives or before its
// answer does. The caller knows nothing then, and calls again on a new connection.
#include "test_database.hpp"

#include <support/postgres_proxy.hpp>

#include <pawl/guard/once.hpp>
#include <pawl/guard/schema.hpp>

namespace guard_tests {
namespace {

using namespace std::string_literals;
using guard::once_state;
using support::sql_fault_kind;

class OnceLostAnswers : public testing::TestWithParam<sql_fault_kind> {
protected:
    OnceLostAnswers() {
        guard::make_tables(admin->view());
        admin->run("CREATE TABLE effects(id BIGINT)");
    }

    [[nodiscard]] static guard::once_work writes(open_connection& where, const std::string& text) {
        return [&where, text](const guard::attempt&) -> guard::outcome {
            where.run("INSERT INTO effects(id) VALUES(1)");
            return text;
        };
    }
    // The first caller, whose connection is cut at this statement. What it was told.
    std::string call_and_cut(const std::string& statement) {
        const auto cut = open_database("Postgres", proxy.url(database_name()))->connect();
        guard::check_tables(cut->view());
        proxy.inject({.text = statement, .kind = GetParam()});
        try {
            return guard::once(cut->view(), "order/7", {}, writes(*cut, "first")).value;
        } catch (const guard::database_error& lost) {
            EXPECT_TRUE(lost.is_connection_lost()) << lost.what();
        }
        EXPECT_EQ(proxy.strike_count(), 1U);
        return "";
    }
    guard::once_result call_again() {
        admin->run("UPDATE pawl_once SET lease_until = 0 WHERE state = 1");  // it is over by then
        return guard::once(admin->view(), "order/7", {}, writes(*admin, "second"));
    }
    [[nodiscard]] std::string database_name() const {
        const auto url = database->address();
        return url.substr(url.rfind('/') + 1);
    }
    [[nodiscard]] std::uint16_t server_port() const {
        const auto url = database->address();
        return static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
    }

    const std::unique_ptr<test_database> database = make_postgres({});
    const std::unique_ptr<open_connection> admin = database->connect();
    support::postgres_proxy proxy{server_port()};
};

// Interleaving: COMMIT is carried out, and its answer is lost; or it never arrives. The second call
// replays the first effect, or makes the only one.
TEST_P(OnceLostAnswers, OfTheCommitLeaveOneEffect) {
    EXPECT_EQ(call_and_cut("COMMIT"), "");
    const auto again = call_again();
    EXPECT_EQ(admin->number("SELECT count(*) FROM effects"), 1);
    if (GetParam() == sql_fault_kind::lose_request) {
        EXPECT_EQ(again.state, once_state::done);
        EXPECT_EQ(again.value, "second");
    } else {
        EXPECT_EQ(again.state, once_state::replayed);
        EXPECT_EQ(again.value, "first");
    }
}

TEST_P(OnceLostAnswers, OfTheClaimLeaveOneEffect) {
    EXPECT_EQ(call_and_cut("INSERT INTO pawl_once"), "");
    EXPECT_EQ(call_again().state, once_state::done);
    EXPECT_EQ(admin->number("SELECT count(*) FROM effects"), 1);
}

TEST_P(OnceLostAnswers, OfTheEffectAndOfItsEndLeaveOneEffect) {
    EXPECT_EQ(call_and_cut("INSERT INTO effects"), "");
    EXPECT_EQ(call_again().value, "second");
    EXPECT_EQ(admin->number("SELECT count(*) FROM effects"), 1);
}

TEST_P(OnceLostAnswers, OfTheRecordsEndLeaveOneEffect) {
    EXPECT_EQ(call_and_cut("UPDATE pawl_once SET state"), "");
    EXPECT_EQ(call_again().value, "second") << "the transaction was not committed";
    EXPECT_EQ(admin->number("SELECT count(*) FROM effects"), 1);
}

INSTANTIATE_TEST_SUITE_P(At, OnceLostAnswers,
                         testing::Values(sql_fault_kind::lose_request, sql_fault_kind::lose_reply,
                                         sql_fault_kind::cut_reply),
                         [](const auto& tested) {
                             switch (tested.param) {
                             case sql_fault_kind::lose_request: return "TheRequest";
                             case sql_fault_kind::lose_reply: return "TheReply";
                             default: return "HalfOfTheReply";
                             }
                         });

// A constraint that is checked at the commit refuses it. The record is not done, and the next
// caller tries at once.
TEST(OnceCommit, IsRefusedByADeferredConstraint) {
    const auto database = make_postgres({});
    const auto db = database->connect();
    guard::make_tables(db->view());
    db->run("CREATE TABLE effects(id BIGINT UNIQUE DEFERRABLE INITIALLY DEFERRED)");
    db->run("INSERT INTO effects(id) VALUES(1)");
    const auto work = [&](const guard::attempt& claimed) -> guard::outcome {
        db->run("INSERT INTO effects(id) VALUES(" + std::to_string(claimed.number()) + ")");
        return "made"s;
    };
    try {
        (void)guard::once(db->view(), "order/7", {}, work);
        FAIL() << "a duplicate was committed";
    } catch (const guard::database_error& refused) {
        EXPECT_EQ(refused.code(), "23505");
    }
    EXPECT_EQ(db->number("SELECT count(*) FROM effects"), 1);
    EXPECT_EQ(guard::once(db->view(), "order/7", {.wait = std::chrono::seconds(0)}, work).state,
              once_state::done);
}

}  // namespace
}  // namespace guard_tests
