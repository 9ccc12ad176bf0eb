// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Each rule of the checker finds what it is for, and allows what the guarantee table allows.
#include "checker.hpp"
#include "client_process.hpp"
#include "settings.hpp"

#include <support/journal.hpp>
#include <support/temp_folder.hpp>

#include <gtest/gtest.h>

namespace {

using namespace proofs;

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

verdict check_holds(std::vector<hold_record> holds, consequences can = {},
                    std::vector<access_record> accesses = {}) {
    run_records records;
    records.locks.push_back({std::move(holds), std::move(accesses)});
    records.faults.push_back({.name = "it", .can = can, .begin = 0, .end = 20 * second});
    return check(records, [](std::uint64_t token) { return token >> 47U; });
}

constexpr consequences forgets{.forgets_holds = true};
constexpr consequences both{.forgets_holds = true, .two_servers_grant = true};

TEST(ProofChecker, HasNothingAgainstHoldsInOrder) {
    const auto result = check_holds({hold(1, 10, 20), hold(2, 22, 30)});
    EXPECT_EQ(result.violations(), 0U);
    EXPECT_EQ(result.holds, 2U);
}

TEST(ProofChecker, FindsEqualTokensDuringAnyFault) {
    EXPECT_EQ(check_holds({hold(1, 10, 20), hold(1, 22, 30)}, both).equal_tokens, 1U);
}

TEST(ProofChecker, FindsATokenThatGoesBack) {
    const auto result = check_holds({hold(7, 10, 20), hold(6, 22, 30)}, both);
    EXPECT_EQ(result.tokens_back, 1U) << "of one epoch, so no fault excuses it";
}

TEST(ProofChecker, AllowsASmallerTokenOnlyOfAServerThatWasReplacedAndGoesOn) {
    const std::vector<hold_record> holds{hold(epoch + 1, 10, 20), hold(6, 22, 30)};
    EXPECT_EQ(check_holds(holds, forgets).tokens_back, 1U);
    EXPECT_EQ(check_holds(holds, both).tokens_back, 0U);
    EXPECT_EQ(check_holds(holds, both).allowed_tokens_back, 1U);
}

TEST(ProofChecker, ConcurrentRequestsHaveNoOrder) {
    EXPECT_EQ(check_holds({hold(7, 10, 10), hold(6, 10, 30)}).tokens_back, 0U);
}

TEST(ProofChecker, FindsOverlappingHolds) {
    std::vector<hold_record> holds{hold(epoch + 1, 10, 30), hold(epoch + 2, 20, 40)};
    EXPECT_EQ(check_holds(holds, both).overlaps, 1U) << "of one epoch, so no fault excuses it";
    holds[1].token = 2 * epoch;
    EXPECT_EQ(check_holds(holds).overlaps, 1U);
    EXPECT_EQ(check_holds(holds, forgets).overlaps, 0U);
    EXPECT_EQ(check_holds(holds, forgets).allowed_overlaps, 1U);
}

TEST(ProofChecker, AllowsNoOverlapLongAfterTheFault) {
    const auto late = 40 * second;
    EXPECT_EQ(
        check_holds({hold(1, late, late + 30), hold(epoch, late + 20, late + 40)}, both).overlaps,
        1U);
}

TEST(ProofChecker, FindsAHolderWhoseHoldWasCutAndWhoIsNotTold) {
    std::vector<hold_record> holds{hold(1, 10, 30), hold(epoch + 2, 20, 40)};
    EXPECT_EQ(check_holds(holds, forgets).untold, 1U);
    EXPECT_EQ(check_holds(holds, both).allowed_untold, 1U);
    holds[0].result = "taken_over";
    EXPECT_EQ(check_holds(holds, forgets).untold, 0U);
    holds[0].result = "released";
    holds[0].lost = 35;
    EXPECT_EQ(check_holds(holds, forgets).untold, 0U);
}

TEST(ProofChecker, FindsARefusedHolderThatIsNotTold) {
    auto refused = hold(1, 10, 30);
    refused.was_refused = true;
    EXPECT_EQ(check_holds({refused}, forgets).untold, 1U);
    refused.result = "expired";
    EXPECT_EQ(check_holds({refused}, forgets).untold, 0U);
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
        access_record{.kind = access::read, .hold = 2, .token = 2, .largest_token = 2, .value = 1};
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
    EXPECT_EQ(resource::load(folder.file("ignores")).back().largest_token, 8U);
}

TEST(ProofRecords, AreReadAsTheClientsWriteThem) {
    const support::temp_folder folder;
    const support::journal journal(journal_path(folder.path().string(), 0));
    for (const auto* line :
         {"got 5 1 77 10 11 900", "at 5 20 900", "at 5 950 900", "refused 5 960", "lost 5 970",
          "leave 5 980", "end 5 990 expired", "error 6 991 No server answers."})
        journal.write(line);
    const auto records = read_records(folder.path().string(), 1, 2);
    ASSERT_EQ(records.locks.at(1).holds.size(), 1U);
    const auto& read = records.locks[1].holds[0];
    EXPECT_EQ(read.token, 77U);
    EXPECT_EQ(read.invoked, 10);
    EXPECT_EQ(read.returned, 11);
    EXPECT_EQ(read.believed, 950);
    EXPECT_TRUE(read.believes_too_long);
    EXPECT_TRUE(read.was_refused);
    EXPECT_EQ(read.lost, 970);
    EXPECT_EQ(read.result, "expired");
    EXPECT_EQ(records.errors, std::vector<std::string>{"No server answers."});
}

std::string refusal_of(const std::vector<std::string>& arguments) {
    try {
        (void)parse_settings(arguments);
    } catch (const bad_usage& problem) {
        return problem.what();
    }
    return "";
}

TEST(ProofSettings, AreReadOrRefusedWithASentence) {
    const auto options = parse_settings(
        {"--for", "5min", "--on", "cluster", "--fencing", "naive", "--faults", "crash,slot"});
    EXPECT_EQ(options.length, std::chrono::minutes(5));
    EXPECT_EQ(options.environments, std::vector<std::string>{"cluster"});
    EXPECT_EQ(options.modes, std::vector<fencing>{fencing::naive});
    EXPECT_EQ(options.faults, (std::vector<std::string>{"crash", "slot"}));
    EXPECT_EQ(parse_settings({}).modes.size(), 3U);
    EXPECT_EQ(refusal_of({"--for", "soon"}), "'soon' is no time for --for; use 90s, 5min or 1h.");
    EXPECT_EQ(refusal_of({"--on", "moon"}),
              "There is no --on 'moon'; there are: sentinel, cluster.");
    EXPECT_EQ(refusal_of({"--fencing", "some"}),
              "There is no --fencing 'some'; use on, off or naive.");
    EXPECT_EQ(refusal_of({"--seed"}), "The option --seed needs a value; --help has the values.");
    EXPECT_EQ(refusal_of({"--sed", "1"}), "There is no option '--sed'; --help lists the options.");
}

}  // namespace
