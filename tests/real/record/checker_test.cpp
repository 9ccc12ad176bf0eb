// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Each rule of the checker finds what it is for, and allows what the guarantee table allows if the
// history of the servers shows the reason.
#include "checker.hpp"
#include "journal.hpp"

#include <real/clients/client_process.hpp>

#include <support/temp_folder.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace {

using namespace real;

constexpr instant second = 1'000'000'000;
constexpr std::uint64_t epoch = std::uint64_t{1} << 47U;

hold_record hold(std::uint64_t token, instant from, instant until) {
    return {.hold = token,
            .token = token,
            .invoked = from,
            .returned = from + 1,
            .believed = until,
            .ended = until + 1,
            .result = "released"};
}

server_period master(const char* server, std::uint64_t of_epoch, instant from, instant until) {
    return {.server = server,
            .state = {.run_id = server,
                      .replication_id = std::to_string(of_epoch),
                      .is_master = true,
                      .is_serving = true,
                      .epoch = of_epoch,
                      .keys = {0}},
            .from = {from - 1, from},
            .until = {until - 1, until}};
}

server_period replica(const char* server, instant from, instant until) {
    return {.server = server,
            .state = {.run_id = server, .replication_id = "0"},
            .from = {from - 1, from},
            .until = {until - 1, until}};
}

// b is promoted at 100, with epoch 1; a, of epoch 0, serves until `retired`.
std::vector<server_period> failover_until(instant retired) {
    return {master("a", 0, 0, retired), replica("b", 0, 100), master("b", 1, 100, second)};
}

verdict check_holds(std::vector<hold_record> holds, std::vector<server_period> history = {},
                    std::vector<access_record> accesses = {}, bool have_epochs = true) {
    run_records records;
    records.locks.push_back({std::move(holds), std::move(accesses), {}});
    records.faults.push_back({.name = "it", .begin = 90, .end = 300});
    records.history = std::move(history);
    records.have_epochs = have_epochs;
    return check(records);
}

TEST(ProofHistory, AFailoverIsAReplicaThatBecomesAMaster) {
    const auto all = failovers_in(failover_until(150));
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].from, "a");
    EXPECT_EQ(all[0].to, "b");
    EXPECT_EQ(all[0].epoch_before, 0U);
    EXPECT_EQ(all[0].epoch, 1U);
    EXPECT_EQ(all[0].promoted.latest, 100);
    EXPECT_EQ(all[0].retired.latest, 150);
}

TEST(ProofHistory, ARestartIsNoFailover) {
    auto restarted = master("b", 1, 120, second);
    restarted.state.run_id = "another";
    EXPECT_TRUE(failovers_in({replica("b", 0, 100), restarted}).empty());
}

TEST(ProofHistory, KeysThatMoveToAMasterAreNoFailover) {
    auto without_keys = master("b", 1, 0, 100);
    without_keys.state.keys.clear();
    EXPECT_TRUE(failovers_in({without_keys, master("b", 2, 100, second)}).empty());
}

TEST(ProofHistory, OfSeveralPredecessorsTheNewestIsReplaced) {
    auto history = failover_until(150);
    history.push_back(replica("a", 150, 300));
    history.push_back(master("a", 2, 300, second));
    for (int order = 0; order < 2; ++order) {
        const auto all = failovers_in(history);
        ASSERT_EQ(all.size(), 2U);
        EXPECT_EQ(all[1].to, "a");
        EXPECT_EQ(all[1].from, "b");
        EXPECT_EQ(all[1].epoch_before, 1U);
        std::ranges::reverse(history);
    }
}

TEST(ProofHistory, AMasterWithAnOldEpochReplacesNobody) {
    auto history = failover_until(150);
    history.push_back(replica("c", 0, 200));
    history.push_back(master("c", 0, 200, second));
    EXPECT_EQ(failovers_in(history).size(), 1U);
}

TEST(ProofChecker, HasNothingAgainstHoldsInOrder) {
    const auto result = check_holds({hold(1, 10, 20), hold(2, 22, 30)});
    EXPECT_EQ(result.violations(), 0U);
    EXPECT_EQ(result.holds, 2U);
}

TEST(ProofChecker, FindsEqualTokensDuringAnyFailover) {
    EXPECT_EQ(check_holds({hold(1, 95, 105), hold(1, 110, 120)}, failover_until(150)).equal_tokens,
              1U);
}

TEST(ProofChecker, FindsATokenThatGoesBack) {
    const auto result = check_holds({hold(7, 102, 104), hold(6, 106, 108)}, failover_until(150));
    EXPECT_EQ(result.tokens_back, 1U) << "of one epoch, so no failover excuses it";
}

TEST(ProofChecker, AllowsASmallerTokenOnlyOfAServerThatWasReplacedAndGoesOn) {
    const std::vector<hold_record> holds{hold(epoch + 1, 110, 115), hold(6, 120, 125)};
    EXPECT_EQ(check_holds(holds).tokens_back, 1U) << "without a failover";
    EXPECT_EQ(check_holds(holds, failover_until(119)).tokens_back, 1U);
    const auto result = check_holds(holds, failover_until(130));
    EXPECT_EQ(result.tokens_back, 0U);
    EXPECT_EQ(result.allowed(&allowance::smaller_tokens), 1U);
}

TEST(ProofChecker, ConcurrentRequestsHaveNoOrder) {
    EXPECT_EQ(check_holds({hold(7, 10, 10), hold(6, 10, 30)}).tokens_back, 0U);
}

TEST(ProofChecker, FindsOverlappingHolds) {
    const std::vector<hold_record> one_epoch{hold(epoch + 1, 110, 130), hold(epoch + 2, 120, 140)};
    EXPECT_EQ(check_holds(one_epoch, failover_until(150)).overlaps, 1U)
        << "of one epoch, so no failover excuses it";
    const std::vector<hold_record> two_epochs{hold(1, 90, 130), hold(epoch, 120, 140)};
    EXPECT_EQ(check_holds(two_epochs).overlaps, 1U) << "without a failover";
    const auto result = check_holds(two_epochs, failover_until(100));
    EXPECT_EQ(result.overlaps, 0U);
    EXPECT_EQ(result.allowed(&allowance::overlaps), 1U);
}

TEST(ProofChecker, AllowsNoOverlapBeforeTheFailover) {
    EXPECT_EQ(check_holds({hold(1, 10, 30), hold(epoch, 20, 40)}, failover_until(150)).overlaps,
              1U);
}

TEST(ProofChecker, AllowsAnOverlapWithALaterHoldOfTheOldMasterOnlyWhileItServes) {
    const std::vector<hold_record> holds{hold(epoch, 110, 180), hold(1, 160, 200)};
    EXPECT_EQ(check_holds(holds, failover_until(150)).overlaps, 1U);
    EXPECT_EQ(check_holds(holds, failover_until(170)).overlaps, 0U);
}

TEST(ProofChecker, AFailoverToALaterEpochAllowsNothing) {
    auto history = failover_until(150);
    history.back().state.epoch = 2;
    EXPECT_EQ(check_holds({hold(1, 90, 130), hold(epoch, 120, 140)}, history).overlaps, 1U);
}

TEST(ProofChecker, AFailoverOfOtherKeysAllowsNothing) {
    auto history = failover_until(100);
    for (auto& each : history)
        if (each.state.is_master) each.state.keys = {1};
    EXPECT_EQ(check_holds({hold(1, 90, 130), hold(epoch, 120, 140)}, history).overlaps, 1U);
}

TEST(ProofChecker, WithoutEpochsTheTimeOfTheFailoverAllowsAnOverlap) {
    const auto overlaps_in = [](instant from) {
        return check_holds({hold(1, from, from + 40), hold(2, from + 20, from + 60)},
                           failover_until(100), {}, false)
            .overlaps;
    };
    EXPECT_EQ(overlaps_in(10), 1U);
    EXPECT_EQ(overlaps_in(90), 0U);
    EXPECT_EQ(overlaps_in(200), 1U);
}

TEST(ProofChecker, FindsAHolderWhoseHoldWasCutAndWhoIsNotTold) {
    std::vector<hold_record> holds{hold(1, 90, 130), hold(epoch + 2, 120, 140)};
    EXPECT_EQ(check_holds(holds, failover_until(110)).untold, 1U);
    EXPECT_EQ(check_holds(holds, failover_until(150)).allowed(&allowance::untold), 1U)
        << "the old master confirms the release";
    holds[0].result = "taken_over";
    EXPECT_EQ(check_holds(holds, failover_until(110)).untold, 0U);
    holds[0].result = "released";
    holds[0].lost = 135;
    EXPECT_EQ(check_holds(holds, failover_until(110)).untold, 0U);
}

TEST(ProofChecker, FindsARefusedHolderThatIsNotTold) {
    auto refused = hold(1, 90, 130);
    refused.refused = refused.believed;
    EXPECT_EQ(check_holds({refused}, failover_until(110)).untold, 1U);
    refused.result = "expired";
    EXPECT_EQ(check_holds({refused}, failover_until(110)).untold, 0U);
}

// The old master let an earlier hold expire and granted another; the new one knows only the first.
TEST(ProofChecker, AllowsAReleaseByANewMasterThatDoesNotKnowTheNewerHold) {
    auto refused = hold(1, 80, 130);
    refused.returned = 129;
    refused.refused = refused.believed;
    const auto newer = hold(2, 90, 95);
    EXPECT_EQ(check_holds({refused, newer}).untold, 1U) << "without a failover";
    const auto history = failover_until(110);
    EXPECT_EQ(check_holds({refused, newer}, history).allowed(&allowance::untold), 1U);
    EXPECT_EQ(check_holds({refused, hold(epoch, 110, 120)}, history).untold, 1U)
        << "the new master granted the newer hold";
    EXPECT_EQ(check_holds({refused, hold(2, 115, 120)}, history).untold, 1U)
        << "no master served that granted the newer hold";
    refused.returned = refused.believed = refused.refused.emplace(98);
    refused.ended = 98;
    EXPECT_EQ(check_holds({refused, newer}, failover_until(97)).untold, 1U)
        << "before the failover";
}

TEST(ProofChecker, NamesTheFaultOfEachFailoverAndCountsFurtherOnes) {
    auto history = failover_until(150);
    history.push_back(replica("c", 0, 200));
    history.push_back(master("c", 2, 200, second));
    history.push_back(replica("d", 0, 400));
    history.push_back(master("d", 3, 400, second));
    const auto result = check_holds({}, history);
    ASSERT_EQ(result.allowances.size(), 3U);
    EXPECT_EQ(result.allowances[0].fault, "it");
    EXPECT_FALSE(result.allowances[0].is_further);
    EXPECT_EQ(result.allowances[1].fault, "it");
    EXPECT_TRUE(result.allowances[1].is_further) << "the second one in the fault";
    EXPECT_EQ(result.allowances[2].fault, "");
    EXPECT_TRUE(result.allowances[2].is_further) << "after the fault";
    EXPECT_EQ(result.further_failovers(), 2U);
}

TEST(ProofChecker, FindsABeliefAfterTheDeadline) {
    auto late = hold(1, 10, 30);
    late.believes_too_long = true;
    EXPECT_EQ(check_holds({late}).late_beliefs, 1U);
}

access_record read_of(std::uint64_t hold, std::uint64_t value) {
    return {.kind = access::read, .hold = hold, .token = hold, .value = value};
}
access_record write_of(std::uint64_t hold, std::uint64_t value) {
    return {.kind = access::write, .hold = hold, .token = hold, .value = value};
}

TEST(ProofChecker, FindsALostUpdate) {
    const std::vector<access_record> good{read_of(1, 0), write_of(1, 1), read_of(2, 1),
                                          write_of(2, 2)};
    EXPECT_EQ(check_holds({}, {}, good).lost_updates, 0U);
    const std::vector<access_record> bad{read_of(1, 0), read_of(2, 0), write_of(2, 1),
                                         write_of(1, 1)};
    EXPECT_EQ(check_holds({}, {}, bad).lost_updates, 1U);
}

TEST(ProofChecker, FindsAWriteThatGoesBack) {
    auto stale = write_of(1, 2);
    const auto newer =
        access_record{.kind = access::read, .hold = 2, .token = 2, .largest_writer = 2, .value = 1};
    EXPECT_EQ(check_holds({}, {}, {newer, stale}).writes_back, 1U);
}

TEST(ProofResource, RefusesAnOlderTokenOnlyIfItChecks) {
    const support::temp_folder folder;
    for (const bool checks : {true, false}) {
        resource guarded(folder.file(checks ? "checks" : "ignores"), checks);
        EXPECT_EQ(guarded.read(1, 7), 0U);
        EXPECT_TRUE(guarded.write(1, 7, 1));
        EXPECT_EQ(guarded.read(2, 8), 1U);
        EXPECT_EQ(guarded.write(1, 7, 2), !checks);
        EXPECT_TRUE(guarded.write(2, 8, 2));
    }
    EXPECT_EQ(resource::load(folder.file("checks")).size(), 4U);
    EXPECT_EQ(resource::load(folder.file("ignores")).back().largest_writer, 8U);
}

TEST(ProofResource, ComparesReadersWithWritersOnly) {
    const support::temp_folder folder;
    resource guarded(folder.file("it"), true);
    EXPECT_TRUE(guarded.write(1, 5, 1));
    EXPECT_EQ(guarded.look(2, 9), 1U);
    EXPECT_EQ(guarded.look(3, 7), 1U) << "another reader of the group has a larger token";
    EXPECT_FALSE(guarded.write(4, 8, 2)) << "a reader of a later group has looked";
    EXPECT_TRUE(guarded.write(5, 10, 2));
    EXPECT_EQ(guarded.look(2, 9), std::nullopt) << "a later writer has been here";
    resource careless(folder.file("other"), false);
    EXPECT_TRUE(careless.write(1, 5, 1));
    EXPECT_EQ(careless.look(2, 4), 1U);
}

TEST(ProofRecords, AreReadAsTheClientsWriteThem) {
    const support::temp_folder folder;
    const real::journal journal(journal_path(folder.path().string(), 0));
    for (const auto* line : {"got 5 1 77 10 11 900 writer", "got 7 1 78 10 11 900 reader",
                             "at 5 20 900", "at 5 950 900", "refused 5 960", "lost 5 970",
                             "leave 5 980", "end 5 990 expired", "error 6 991 No server answers."})
        journal.write(line);
    const auto records = read_records(folder.path().string(), 1, 2);
    ASSERT_EQ(records.locks.at(1).holds.size(), 2U);
    const bool is_first = records.locks[1].holds[0].hold == 5;
    const auto& read = records.locks[1].holds[is_first ? 0 : 1];
    EXPECT_TRUE(records.locks[1].holds[is_first ? 1 : 0].is_reader);
    EXPECT_FALSE(read.is_reader);
    EXPECT_EQ(read.token, 77U);
    EXPECT_EQ(read.invoked, 10);
    EXPECT_EQ(read.returned, 11);
    EXPECT_EQ(read.believed, 950);
    EXPECT_TRUE(read.believes_too_long);
    EXPECT_EQ(read.refused, 960);
    EXPECT_EQ(read.lost, 970);
    EXPECT_EQ(read.result, "expired");
    EXPECT_EQ(records.errors, std::vector<std::string>{"No server answers."});
}

// Of two holds, with a loss of memory between them, or perhaps not.
verdict check_with_loss(const hold_record& left, const hold_record& right, instant when,
                        loss_cause cause = loss_cause::clock_set_forward) {
    run_records records;
    records.locks.push_back({.holds = {left, right}, .accesses = {}, .earlier = {}});
    if (when != 0)
        records.memory_losses.push_back({.server = "a", .at = {when - 1, when}, .cause = cause});
    return check(records);
}

TEST(ProofClock, AStepAllowsAnOverlapWithTheHoldThatItEndsEarly) {
    const auto older = hold(1, 100, 400), newer = hold(2, 200, 300);
    EXPECT_EQ(check_with_loss(older, newer, 150).overlaps_by_loss, 1U);
    EXPECT_EQ(check_with_loss(older, newer, 150).untold_by_loss, 1U);
    EXPECT_EQ(check_with_loss(older, newer, 150).violations(), 0U);
    for (const instant outside : {0, 50, 250}) {
        const auto result = check_with_loss(older, newer, outside);
        EXPECT_EQ(result.overlaps, 1U) << outside;
        EXPECT_EQ(result.untold, 1U) << outside;
        EXPECT_EQ(result.overlaps_by_loss + result.untold_by_loss, 0U) << outside;
    }
}

// Its process was paused within the acquire.
TEST(ProofClock, TheOlderHoldMayHaveBeenReturnedLater) {
    auto older = hold(1, 100, 400);
    older.returned = 250;
    EXPECT_EQ(check_with_loss(older, hold(2, 200, 300), 150).overlaps_by_loss, 1U);
}

TEST(ProofClock, AStepAllowsNothingElse) {
    const auto result = check_with_loss(hold(2, 100, 190), hold(1, 200, 300), 150);
    EXPECT_EQ(result.tokens_back, 1U);
    EXPECT_EQ(check_with_loss(hold(1, 100, 190), hold(1, 200, 300), 150).equal_tokens, 1U);
}

TEST(ProofRollBack, OlderDataAllowWhatAClockAllows) {
    const auto older = hold(1, 100, 400), newer = hold(2, 200, 300);
    const auto check = [&](instant when) {
        return check_with_loss(older, newer, when, loss_cause::older_data);
    };
    EXPECT_EQ(check(150).overlaps_by_loss, 1U);
    EXPECT_EQ(check(150).violations(), 0U);
    EXPECT_EQ(check(250).overlaps, 1U);
    const auto repeated =
        check_with_loss(hold(1, 100, 190), hold(1, 200, 300), 150, loss_cause::older_data);
    EXPECT_EQ(repeated.equal_tokens, 1U) << "the clocks forbid it";
}

// It joins readers of the older data, which lack a writer.
TEST(ProofRollBack, OnlyAReaderMayHaveAnOldToken) {
    auto reader = hold(1, 200, 300);
    reader.refused = reader.believed;
    const auto writer = hold(2, 100, 120);
    EXPECT_EQ(check_with_loss(writer, reader, 150, loss_cause::older_data).tokens_back, 1U);
    reader.is_reader = true;
    EXPECT_EQ(check_with_loss(writer, reader, 150).tokens_back, 1U) << "of a clock";
    EXPECT_EQ(check_with_loss(writer, reader, 90, loss_cause::older_data).tokens_back, 1U);
    EXPECT_EQ(check_with_loss(writer, reader, 350, loss_cause::older_data).tokens_back, 1U);
    const auto allowed = check_with_loss(writer, reader, 150, loss_cause::older_data);
    EXPECT_EQ(allowed.readers_back_by_loss, 1U);
    EXPECT_EQ(allowed.untold_by_loss, 1U);
    EXPECT_EQ(allowed.violations(), 0U);
}

// It was granted after the last check of the holder that the resource refuses.
TEST(ProofRollBack, TheHoldThatCausesARefusalMayBeginAfterTheLastCheck) {
    auto older = hold(1, 100, 140);
    older.refused = 170;
    older.ended = 180;
    const auto newer = hold(2, 155, 165);
    EXPECT_EQ(check_with_loss(older, newer, 150, loss_cause::older_data).untold_by_loss, 1U);
    EXPECT_EQ(check_with_loss(older, newer, 0).untold, 1U);
}

hold_record reader(std::uint64_t token, instant from, instant until) {
    auto result = hold(token, from, until);
    result.is_reader = true;
    return result;
}

TEST(ProofReaders, ShareTheLockAndTheToken) {
    EXPECT_EQ(check_holds({reader(1, 10, 30), reader(1, 20, 40)}).violations(), 0U);
    EXPECT_EQ(check_holds({reader(1, 10, 30), reader(2, 20, 40)}).violations(), 0U)
        << "of one group, with Redlock";
    EXPECT_EQ(check_holds({reader(2, 10, 20), reader(1, 30, 40)}).tokens_back, 1U);
}

TEST(ProofReaders, AndWritersExcludeEachOther) {
    EXPECT_EQ(check_holds({reader(1, 10, 30), hold(2, 20, 40)}).overlaps, 1U);
    EXPECT_EQ(check_holds({hold(1, 10, 30), reader(2, 20, 40)}).overlaps, 1U);
    EXPECT_EQ(check_holds({hold(1, 10, 20), reader(1, 30, 40)}).equal_tokens, 1U);
    EXPECT_EQ(check_holds({reader(1, 10, 20), reader(1, 12, 22), hold(1, 30, 40)}).equal_tokens,
              1U);
    EXPECT_EQ(check_holds({hold(2, 10, 20), reader(1, 30, 40)}).tokens_back, 1U);
    EXPECT_EQ(check_holds({reader(2, 10, 20), hold(1, 30, 40)}).tokens_back, 1U);
}

TEST(ProofReaders, OneThatSeesTwoValuesIsFound) {
    const auto look = [](std::uint64_t value) {
        return access_record{.kind = access::look, .hold = 3, .token = 3, .value = value};
    };
    EXPECT_EQ(check_holds({}, {}, {look(0), look(0)}).changed_reads, 0U);
    const auto outcome = check_holds({hold(1, 10, 20), reader(3, 30, 40)}, {},
                                     {look(0), read_of(1, 0), write_of(1, 1), look(1)});
    EXPECT_EQ(outcome.changed_reads, 1U);
    EXPECT_EQ(outcome.violations(), 1U);
    EXPECT_EQ(outcome.writes, 1U);
}

// A round continues the earlier ones: of each lock, their largest tokens and the resource.
TEST(ProofRounds, TokensMustNotRepeatThoseOfAnEarlierRoundNorGoBack) {
    run_records records;
    records.have_epochs = true;
    records.locks.resize(1);
    records.locks[0].holds = {hold(7, 0, 50), hold(epoch + 3, 60, 70), hold(epoch + 2, 40, 50)};
    const auto earlier = newest_holds(records.locks[0], true);
    ASSERT_EQ(earlier.size(), 2U);
    EXPECT_EQ(earlier[0].token, 7U);
    EXPECT_EQ(earlier[1].token, epoch + 3);
    EXPECT_EQ(newest_holds({.holds = {}, .accesses = {}, .earlier = earlier}, false).size(), 1U);
    for (const auto& [token, equal, back] :
         {std::array<std::uint64_t, 3>{epoch + 4, 0, 0}, {epoch + 3, 1, 0}, {epoch + 2, 0, 1}}) {
        records.locks[0] = {.holds = {hold(token, 100, 150)}, .accesses = {}, .earlier = earlier};
        const auto outcome = check(records);
        EXPECT_EQ(outcome.holds, 1U);
        EXPECT_EQ(outcome.equal_tokens, equal) << token;
        EXPECT_EQ(outcome.tokens_back, back) << token;
    }
}

TEST(ProofRounds, AResourceContinuesAnotherFile) {
    const support::temp_folder folder;
    const auto path = folder.file("next");
    resource::begin_with(
        path, {.kind = access::write, .hold = 1, .token = 5, .largest_writer = 5, .value = 8});
    resource next(path, true);
    EXPECT_NE(resource::load(path).front().hold, 1U)
        << "a hold of the next round may have the name";
    EXPECT_FALSE(next.read(2, 4)) << "the smaller token";
    EXPECT_EQ(next.read(3, 6), std::optional<std::uint64_t>(8));
    EXPECT_TRUE(next.write(3, 6, 9));
    run_records records;
    records.locks.push_back({.holds = {}, .accesses = resource::load(path), .earlier = {}});
    const auto outcome = check(records);
    EXPECT_EQ(outcome.writes, 1U);
    EXPECT_EQ(outcome.lost_updates, 0U);
    EXPECT_EQ(outcome.writes_back, 0U);
}

}  // namespace
