// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// ShedLock's table in PostgreSQL: lost requests and replies, a server that crashes or falls silent,
// and tables that Pawl must refuse.
#include "database_cases.hpp"
#include "postgres_fixture.hpp"

#include <pawl/postgres.hpp>

#include <gmock/gmock.h>

namespace {

using namespace chaos;

const std::string shedlock_layout = "?layout=shedlock&others=database_time";

class shedlock_fixture : public postgres_fixture {
protected:
    shedlock_fixture() {
        pawl::postgres::options settings;
        settings.shedlock = {.others_use_database_time = true};
        execute(pawl::postgres::schema_of(settings));
    }
    [[nodiscard]] client proxied() { return client_at(proxy.url(database, shedlock_layout)); }
    [[nodiscard]] client direct() { return client_with(shedlock_layout); }
    [[nodiscard]] client new_client() override { return direct(); }
    [[nodiscard]] bool is_free() const {
        return number(
                   "SELECT count(*) FROM shedlock WHERE name <> 'warm' AND lock_until > "
                   "timezone('utc', clock_timestamp())") == 0;
    }
    // Of a connector's try, whose error is not waited for.
    [[nodiscard]] std::string refusal() {
        const auto failed = failure_at(url_with(shedlock_layout));
        if (!failed) return "granted";
        EXPECT_EQ(failed->reason, errc::refused) << failed;
        return failed->sentence;
    }
};

class PostgresShedLockFaults : public testing::TestWithParam<sql_fault_kind>,
                               protected shedlock_fixture {
protected:
    // The next statement with this text meets the fault.
    void strike(const std::string& text) {
        proxy.inject({.text = text, .kind = GetParam(), .delay = 400ms});
    }
    [[nodiscard]] bool has_struck() {
        return eventually([&] { return proxy.strike_count() == 1; });
    }
    static constexpr const char* take = "coalesce(fence";
    static constexpr const char* extend = "interval '1 ms' where";
    static constexpr const char* release = "interval '1 ms') where";
};

//   A: take -> fault -> undone, and repeated by another owner -> granted | A releases: nothing is
//   left, long before the lease of the first attempt is over
TEST_P(PostgresShedLockFaults, OfAnAcquireLeaveNothingBehind) {
    client locks = proxied();
    warm(locks);
    strike(take);
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_TRUE(has_struck());
    EXPECT_EQ(lock.state(), lock_state::held);
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(eventually([&] { return is_free(); }));
}

//   A: take of a try -> fault -> undone in another session | B holds
TEST_P(PostgresShedLockFaults, OfATryAreUndone) {
    client locks = client_at(proxy.url(database, shedlock_layout), 1s), other = direct();
    warm(locks);
    (void)other.acquire("it", {.wait = patience}).release();
    strike(take);
    (void)failure_of([&] { (void)locks.try_acquire("it", {.ttl = long_ttl}); });
    EXPECT_TRUE(has_struck());
    auto next = other.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_EQ(next.release(), release_result::released);
    EXPECT_TRUE(eventually([&] { return is_free(); }));
}

//   A: release -> fault | B holds | A's release comes again: B's owner is another, B still holds
TEST_P(PostgresShedLockFaults, OfAReleaseDoNotHurtTheNextHolder) {
    client locks = proxied(), other = direct();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    strike(release);
    const auto result = lock.release();
    EXPECT_TRUE(result == release_result::released || result == release_result::unknown);
    EXPECT_TRUE(has_struck());
    auto next = other.acquire("it", {.ttl = 6s, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
    next.renew();
    const auto renewed = next.safe_until();
    ASSERT_TRUE(eventually([&] { return next.safe_until() > renewed; }));
    EXPECT_EQ(next.release(), release_result::released);
    EXPECT_TRUE(eventually([&] { return is_free(); }));
}

//   A holds | A: extend -> fault -> repeated within the lease | A still holds
TEST_P(PostgresShedLockFaults, OfARenewalCostNothing) {
    client locks = proxied();
    auto lock = locks.acquire("it", {.ttl = 15s, .wait = patience});
    strike(extend);
    ASSERT_TRUE(has_struck());
    const auto before = lock.safe_until();
    ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; }));
    EXPECT_EQ(lock.state(), lock_state::held);
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(eventually([&] { return is_free(); }));
}

std::string name_of_shedlock_fault(const testing::TestParamInfo<sql_fault_kind>& info) {
    switch (info.param) {
    case sql_fault_kind::lose_request: return "LostRequest";
    case sql_fault_kind::lose_reply: return "LostReply";
    case sql_fault_kind::cut_reply: return "CutReply";
    case sql_fault_kind::delay_reply: return "DelayedReply";
    default: return "Swallowed";
    }
}

INSTANTIATE_TEST_SUITE_P(By, PostgresShedLockFaults,
                         testing::Values(sql_fault_kind::lose_request, sql_fault_kind::lose_reply,
                                         sql_fault_kind::cut_reply, sql_fault_kind::delay_reply,
                                         sql_fault_kind::swallow),
                         name_of_shedlock_fault);

class PostgresShedLock : public testing::Test, protected shedlock_fixture {};

class PostgresShedLockCases : public testing::TestWithParam<database_case<>>,
                              protected shedlock_fixture {};
TEST_P(PostgresShedLockCases, Case) { GetParam().run(*this); }
INSTANTIATE_TEST_SUITE_P(On, PostgresShedLockCases, testing::ValuesIn(shedlock_cases), case_name<>);

//   A holds | an administrator ends its session | A renews in another one
TEST_F(PostgresShedLock, AnEndedSessionCostsNoLock) {
    client locks = direct();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_EQ(end_sessions(), 1);
    lock.renew();
    EXPECT_EQ(lock.release(), release_result::released);
}

//   A holds | B releases it by force | A's renewal finds no hold: a loss | B holds
TEST_F(PostgresShedLock, AForcedReleaseIsALossAtTheNextRenewal) {
    client locks = direct(), other = direct();
    auto lock = locks.acquire("it", {.ttl = 6s, .wait = patience});
    const loss_recorder loss(lock);
    EXPECT_FALSE(other.force_release("it", pawl::fencing_token(lock.token().value() + 1)));
    EXPECT_TRUE(other.force_release("it", lock.token()));
    auto next = other.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_TRUE(loss.is_told_within(patience));
    EXPECT_NE(lock.release(), release_result::released);
    EXPECT_EQ(next.release(), release_result::released);
}

// Another table's rows would not protect anything.
TEST_F(PostgresShedLock, ATableThatDoesNotFitIsRefused) {
    const auto place = " of PostgreSQL at 127.0.0.1:" + std::to_string(server.port());
    execute("ALTER TABLE shedlock DROP fence");
    EXPECT_EQ(refusal(), "The table shedlock" + place +
                             " has no column fence, which Pawl needs for its tokens; let an "
                             "administrator run: ALTER TABLE shedlock ADD fence BIGINT.");
    execute("ALTER TABLE shedlock ADD fence bigint, ALTER lock_until TYPE timestamptz");
    EXPECT_THAT(refusal(), testing::HasSubstr("has the type timestamp with time zone"));
    execute("ALTER TABLE shedlock ALTER lock_until TYPE timestamp(0)");
    EXPECT_THAT(refusal(), testing::HasSubstr("(0 digits of a second); it must be TIMESTAMP(3)"));
    execute("ALTER TABLE shedlock ALTER lock_until TYPE timestamp, DROP CONSTRAINT shedlock_pkey");
    EXPECT_THAT(refusal(), testing::HasSubstr("ADD PRIMARY KEY (name)"));
    execute("DROP TABLE shedlock");
    EXPECT_THAT(refusal(), testing::HasSubstr("has no table shedlock that this user can see"));
    EXPECT_EQ(number("SELECT count(*) FROM pg_namespace WHERE nspname = 'pawl'"), 0);
}

// A program with another clock gives itself away when it is ahead.
TEST_F(PostgresShedLock, LocksOfTheFutureAreFound) {
    client locks = direct();
    const auto grade_of_others = [&] {
        for (const auto& each : locks.examine().findings)
            if (each.topic == "other programs") return each.level;
        return pawl::finding::grade::good;
    };
    EXPECT_EQ(grade_of_others(), pawl::finding::grade::note);
    execute(
        "INSERT INTO shedlock SELECT 'java', now() + interval '1 day', now() + interval '1 day', "
        "'host'");
    EXPECT_EQ(grade_of_others(), pawl::finding::grade::bad);
}

}  // namespace
