// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Reconciliations: each promise of pawl/guard/reconciliation.hpp, on each database.
#include "reconcile_fixture.hpp"

#include <support/child.hpp>
#include <support/temp_folder.hpp>

#include <pawl/error.hpp>
#include <pawl/guard/fence.hpp>
#include <pawl/guard/transaction.hpp>

#include <gmock/gmock.h>

#include <csignal>

namespace guard_tests {
namespace {

using guard::reconcile_end;
using guard::repair_result;
using pawl::fencing_token;
using testing::HasSubstr;
using namespace std::chrono_literals;

class GuardReconciliation : public reconcile_fixture {};

TEST_P(GuardReconciliation, RepairsEachKeyAndThenFindsNone) {
    const auto first = run();
    EXPECT_EQ(first.end, reconcile_end::finished);
    EXPECT_FALSE(first.resumed);
    EXPECT_EQ(first.counts.keys, 7U);
    EXPECT_EQ(first.counts.repaired, 7U);
    EXPECT_EQ(unpaid_count(), 0);
    const auto second = run();
    EXPECT_EQ(second.end, reconcile_end::finished);
    EXPECT_EQ(second.counts.keys, 0U);
    EXPECT_GT(second.token, first.token);

    const auto runs = history();
    ASSERT_EQ(runs.size(), 2U) << "the newest first";
    EXPECT_EQ(runs[1].name, "nightly");
    EXPECT_EQ(runs[1].number, first.token);
    EXPECT_EQ(runs[1].after, "07");
    EXPECT_EQ(runs[1].counts.repaired, 7U);
    EXPECT_GT(runs[1].began, std::chrono::system_clock::now() - 24h);
    ASSERT_TRUE(runs[1].ended.has_value());
    EXPECT_GE(*runs[1].ended, runs[1].began);
    EXPECT_EQ(runs[0].number, second.token);
    EXPECT_EQ(guard::reconcile_history(db->view()).size(), 2U);
    EXPECT_EQ(guard::reconcile_history(db->view(), "other").size(), 0U);
}

TEST_P(GuardReconciliation, WorksWithABatchOfOneAndOfAll) {
    for (const std::uint32_t batch : {1, 7, 10000}) {
        EXPECT_EQ(run(paying(), {.batch = batch, .per_second = 1e6}).counts.repaired, 7U);
        db->run("UPDATE orders SET paid = 0");
    }
}

TEST_P(GuardReconciliation, IsLedByOneProcess) {
    const auto leader = other_locks.acquire("nightly");
    const auto report = run();
    EXPECT_EQ(report.end, reconcile_end::led_elsewhere);
    EXPECT_EQ(report.counts.keys, 0U);
    EXPECT_EQ(unpaid_count(), 7);
    EXPECT_TRUE(history().empty());
}

TEST_P(GuardReconciliation, CountsWithoutRepairInADryRun) {
    const auto leader = other_locks.acquire("nightly");  // it needs no lock
    auto options = tiny;
    options.dry_run = true;
    const auto report = run(paying(), options);
    EXPECT_EQ(report.end, reconcile_end::finished);
    EXPECT_TRUE(report.dry_run);
    EXPECT_EQ(report.counts.keys, 7U);
    EXPECT_EQ(report.counts.repaired, 0U);
    EXPECT_EQ(unpaid_count(), 7);
    EXPECT_TRUE(history().empty());
}

// The leader is paused in the repair of 03, and its lock is taken. The next leader goes on behind
// 02, and stops behind 05. Then the former leader wakes up and stores its own progress, 03: that
// would make a third leader begin there, and the history forget what the second has done.
TEST_P(GuardReconciliation, DoesNotLetAFormerLeaderMoveTheCursorBack) {
    const auto next_db = database->connect();
    std::optional<guard::reconcile_report> next;
    const auto repair = [&](const std::string& id, fencing_token) {
        if (id == "03") {
            EXPECT_TRUE(other_locks.force_release("nightly"));
            std::stop_source stop;
            guard::reconciliation successor(other_locks, next_db->view(), "nightly", tiny);
            next = successor.run(
                unpaid(*next_db),
                [&](const std::string& key, fencing_token) {
                    if (key == "05") stop.request_stop();
                    return pay(*next_db, key);
                },
                stop.get_token());
        }
        return pay(*db, id);
    };
    const auto former = run(repair);
    EXPECT_EQ(former.end, reconcile_end::lost);
    ASSERT_TRUE(next.has_value());
    EXPECT_TRUE(next->resumed);
    EXPECT_EQ(next->end, reconcile_end::stopped);
    EXPECT_EQ(next->counts.repaired, 3U) << "03, 04 and 05";
    const auto runs = history();
    ASSERT_EQ(runs.size(), 1U) << "it is the same run";
    EXPECT_EQ(runs[0].after, "05");
    EXPECT_EQ(runs[0].number, former.token);
    EXPECT_EQ(runs[0].token, next->token);
    EXPECT_EQ(runs[0].counts.repaired, 5U);
    EXPECT_FALSE(runs[0].ended.has_value());
    const auto third = run();
    EXPECT_TRUE(third.resumed);
    EXPECT_EQ(third.counts.keys, 2U);
    EXPECT_EQ(unpaid_count(), 0);
}

// A find that fails is as a crash: what was stored stays, and the next run goes on there.
TEST_P(GuardReconciliation, ResumesAfterAFailureOfFind) {
    guard::reconciliation nightly(locks, db->view(), "nightly", tiny);
    const auto find = [&](const std::string& after, std::uint32_t limit) {
        if (after == "04") throw std::runtime_error("no answer");
        return unpaid(*db)(after, limit);
    };
    EXPECT_THROW(nightly.run(find, paying()), std::runtime_error);
    EXPECT_EQ(unpaid_count(), 3);
    const auto next = run();
    EXPECT_TRUE(next.resumed);
    EXPECT_EQ(next.end, reconcile_end::finished);
    EXPECT_EQ(next.counts.keys, 3U);
    const auto last = run();
    EXPECT_FALSE(last.resumed) << "a run that has ended is not continued";
}

TEST_P(GuardReconciliation, StopsAfterTheKeyAndResumes) {
    std::stop_source stop;
    const auto repair = [&](const std::string& id, fencing_token) {
        if (id == "03") stop.request_stop();
        return pay(*db, id);
    };
    const auto stopped = run(repair, tiny, stop.get_token());
    EXPECT_EQ(stopped.end, reconcile_end::stopped);
    EXPECT_EQ(stopped.counts.repaired, 3U);
    EXPECT_EQ(history().at(0).after, "03") << "the cursor is that of the key, not of the batch";
    const auto next = run();
    EXPECT_TRUE(next.resumed);
    EXPECT_EQ(next.counts.repaired, 4U);
    EXPECT_EQ(history().at(0).counts.repaired, 7U) << "of the whole run";
}

TEST_P(GuardReconciliation, GoesOnAfterAFailedRepair) {
    const auto repair = [&](const std::string& id, fencing_token) {
        if (id == "02") throw std::runtime_error("the bank says no");
        if (id == "03") return repair_result::failed;
        if (id == "04") return repair_result::agrees;
        return pay(*db, id);
    };
    const auto report = run(repair);
    EXPECT_EQ(report.end, reconcile_end::finished);
    EXPECT_EQ(report.counts.keys, 7U);
    EXPECT_EQ(report.counts.repaired, 4U);
    EXPECT_EQ(report.counts.agreed, 1U);
    EXPECT_EQ(report.counts.failed, 2U);
    ASSERT_EQ(report.failures.size(), 2U);
    EXPECT_EQ(report.failures[0].key, "02");
    EXPECT_EQ(report.failures[0].reason, "the bank says no");
    EXPECT_EQ(report.failures[1].key, "03");
    EXPECT_EQ(history().at(0).error, "03");
    EXPECT_EQ(history().at(0).counts.failed, 2U);
}

TEST_P(GuardReconciliation, RefusesBadInput) {
    const auto with = [&](const std::string& name, guard::reconcile_options options) {
        return refusal_of(pawl::errc::bad_option, [&] {
            const guard::reconciliation made(locks, db->view(), name, options);
        });
    };
    EXPECT_THAT(with("", {}), HasSubstr("0 bytes"));
    EXPECT_THAT(with(std::string(246, 'x'), {}), HasSubstr("1 to 245"));
    EXPECT_THAT(with("it", {.batch = 0}), HasSubstr("1 to 10000"));
    EXPECT_THAT(with("it", {.batch = 10001}), HasSubstr("1 to 10000"));
    for (const double rate : {0.0, -1.0, 1e7, std::numeric_limits<double>::quiet_NaN()})
        EXPECT_THAT(with("it", {.per_second = rate}), HasSubstr("0.001 to 1000000"));

    guard::reconciliation nightly(locks, db->view(), "nightly", tiny);
    const auto finding = [&](std::vector<std::string> keys) {
        return refusal_of(pawl::errc::bad_option, [&] {
            (void)nightly.run([&](const std::string&, std::uint32_t) { return keys; }, paying());
        });
    };
    EXPECT_THAT(finding({"01", "02"}), HasSubstr("its last key again"));
    EXPECT_THAT(finding({""}), HasSubstr("empty or longer"));
    EXPECT_THAT(finding({std::string(256, 'x')}), HasSubstr("empty or longer"));
    const guard::transaction open(db->view());
    EXPECT_THAT(refusal_of(pawl::errc::unsupported, [&] { (void)run(); }), HasSubstr("end it"));
}

// After a change of the lock service, all tokens may be smaller. Then no run is possible, and the
// sentence says so: without it the report would be `lost`, each night.
TEST_P(GuardReconciliation, RefusesTheLocksOfAnotherService) {
    {
        guard::transaction open(db->view());
        EXPECT_TRUE(guard::fence(db->view(), "reconcile/nightly",
                                 fencing_token(std::numeric_limits<std::int64_t>::max())));
        open.commit();
    }
    EXPECT_THAT(refusal_of(pawl::errc::refused, [&] { (void)run(); }),
                HasSubstr("another service"));
    EXPECT_EQ(unpaid_count(), 7);
}

TEST_P(GuardReconciliation, KeepsTheLastHundredRuns) {
    db->run("DELETE FROM orders");
    std::vector<fencing_token> tokens;
    for (int i = 0; i < 103; ++i)
        tokens.push_back(run().token);
    guard::reconciliation other(locks, db->view(), "other", tiny);
    (void)other.run(unpaid(*db), paying());
    EXPECT_EQ(db->number("SELECT count(*) FROM pawl_reconcile"), 101);
    EXPECT_EQ(history().size(), 100U);
    EXPECT_EQ(history().front().number, tokens.back());
    EXPECT_EQ(history().back().number, tokens[3]);
}

TEST_P(GuardReconciliation, SaysWhichTableIsMissing) {
    db->run("DROP TABLE pawl_reconcile");
    const auto fresh = database->connect();
    EXPECT_THAT(
        refusal_of(pawl::errc::refused, [&] { (void)guard::reconcile_history(fresh->view()); }),
        HasSubstr("pawl schema"));
}

// GCC's thread sanitizer ends the child of a fork that starts threads.
#if PAWL_WITH_SQLITE && !defined(__SANITIZE_THREAD__)
// The process of the leader is killed in the repair of 05. Its lock is in a file, so that the next
// leader has larger tokens.
TEST_P(GuardReconciliation, ResumesAfterAKill) {
    const support::temp_folder folder;
    const auto url = "sqlite:" + folder.file("locks.db");
    const auto address = database->address();
    const auto end = support::run_in_child([&] {
        const auto same = open_database(GetParam().name, address);
        const auto connection = same->connect();
        pawl::blocking::client own_locks(pawl::from_url(url));
        guard::reconciliation nightly(own_locks, connection->view(), "nightly", tiny);
        (void)nightly.run(unpaid(*connection), [&](const std::string& id, fencing_token) {
            if (id == "05") std::raise(SIGKILL);
            return pay(*connection, id);
        });
        return std::string("it was not killed");
    });
    EXPECT_EQ(end, "died of signal 9");
    EXPECT_EQ(unpaid_count(), 3);
    pawl::blocking::client own_locks(pawl::from_url(url));
    EXPECT_TRUE(own_locks.force_release("nightly"));  // its lease would end later
    guard::reconciliation nightly(own_locks, db->view(), "nightly", tiny);
    const auto report = nightly.run(unpaid(*db), paying());
    EXPECT_TRUE(report.resumed);
    EXPECT_EQ(report.counts.repaired, 3U);
    EXPECT_EQ(history().at(0).counts.repaired, 7U);
}
#endif

EVERY_DATABASE(GuardReconciliation);

}  // namespace
}  // namespace guard_tests
