// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a client concludes from the standings, the answers and the clocks of a set's nodes.
#include "idle_link.hpp"
#include "manual_time.hpp"

#include <redis/redlock/genesis_record.hpp>
#include <redis/redlock/node_clocks.hpp>
#include <redis/redlock/node_table.hpp>
#include <redis/redlock/node_timing.hpp>
#include <redis/redlock/set_diagnosis.hpp>
#include <redis/redlock/set_view.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace pawl::redlock {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::microseconds year_2026(1'767'225'600'000'000);

struct RedlockNodes : ::testing::Test {
    RedlockNodes() {
        for (std::size_t i = 0; i < links.size(); ++i) {
            links[i].session.run_id = "run" + std::to_string(i);
            links[i].session.time_us = year_2026.count();
        }
    }
    // The report of a member whose memory has this nonce, with the marks that it knows.
    static member_report member(const std::string& nonce, const std::string& marks,
                                std::int64_t incarnation = 1, std::int64_t quarantine_ms = -2) {
        member_report result;
        result.is_member = true;
        result.set = "set";
        result.member = {incarnation, parse_marks(marks), nonce};
        result.highest = 1;
        result.quarantine_ms = quarantine_ms;
        return result;
    }
    void adopt_members() {
        nodes.adopt(0, member("a", "1:a 1:b 1:c"));
        nodes.adopt(1, member("b", "1:a 1:b 1:c"));
        nodes.adopt(2, member("c", "1:a 1:b 1:c"));
    }

    manual_time time;
    set_parameters set{.set = "set"};
    std::array<idle_link, 3> links;
    node_table nodes{{&links[0], &links[1], &links[2]}, {"n0", "n1", "n2"}, set, time};
    repair_notes notes;
    const set_view view{nodes};
    const set_diagnosis diagnosis{nodes, notes};
};

TEST_F(RedlockNodes, AMajorityOfConnectedMembersCanVote) {
    EXPECT_FALSE(view.has_voters());
    EXPECT_EQ(diagnosis.objection_of(0), "has not answered yet");
    adopt_members();
    links[0].is_up = false;
    EXPECT_TRUE(view.has_voters());
    EXPECT_EQ(view.least_views(), 2U);
    links[1].is_up = false;
    EXPECT_FALSE(view.has_voters());
    EXPECT_TRUE(view.is_away());
}

TEST_F(RedlockNodes, ANodeVotesWhenItsQuarantineHasEnded) {
    nodes.adopt(0, member("a", "1:a 1:b 1:c"));
    nodes.adopt(1, member("b", "1:a 1:b 1:c", 1, 2'000));
    nodes.adopt(2, member("c", "1:a 1:b 1:c", 1, 3'000));
    EXPECT_FALSE(view.has_voters());
    EXPECT_EQ(view.quarantine_end(), time.now() + 2s);
    time.advance(2s);
    EXPECT_TRUE(view.has_voters());
    EXPECT_FALSE(view.quarantine_end());
    nodes.note_refusal(0, {objection::quarantine, 1'000});
    EXPECT_FALSE(nodes.may_vote(0));
}

TEST_F(RedlockNodes, AMemberIsOutdatedWhenAnotherKnowsALaterMemory) {
    adopt_members();
    nodes.adopt(1, member("b", "2:a2 1:b 1:c"));
    EXPECT_EQ(nodes[0].state, standing::outdated);
    EXPECT_TRUE(view.needs_repair());
    EXPECT_EQ(view.count_members(), 2U);
    nodes.adopt(0, member("a2", "2:a2 1:b 1:c", 2));
    EXPECT_EQ(nodes[0].state, standing::member);
}

TEST_F(RedlockNodes, TheEpochOfTheLatestMemoryCounts) {
    adopt_members();
    EXPECT_EQ(view.latest_epoch(0), 0U);
    nodes.adopt(1, member("b", "2:a2.7 1:b 1:c"));
    EXPECT_EQ(view.latest_epoch(0), 7U);
}

TEST_F(RedlockNodes, AServerWithTwoNamesVotesOnce) {
    links[1].session.run_id = "run0";
    nodes.adopt(0, {});
    nodes.adopt(1, {});
    EXPECT_EQ(nodes[1].state, standing::unsuitable);
    EXPECT_TRUE(view.has_server_twice());
    EXPECT_EQ(diagnosis.no_majority().reason(), errc::bad_option);
}

TEST_F(RedlockNodes, ADamagedMembershipIsUnsuitable) {
    nodes.adopt(0, member("a", "1:a 1:b"));
    EXPECT_EQ(nodes[0].state, standing::unsuitable);
    EXPECT_FALSE(diagnosis.objection_of(0).empty());
}

TEST_F(RedlockNodes, NodesWithoutMembershipsFormNoSet) {
    nodes.adopt(0, {});
    EXPECT_TRUE(view.may_be_new());
    EXPECT_FALSE(view.forms_no_set());
    nodes.adopt(1, {});
    nodes.adopt(2, {});
    EXPECT_TRUE(view.forms_no_set());
    EXPECT_TRUE(view.is_forgotten());
    EXPECT_FALSE(view.is_lost());
    EXPECT_EQ(diagnosis.trouble_of_set(), no_set);
    EXPECT_EQ(diagnosis.no_majority().reason(), errc::no_set);
}

TEST_F(RedlockNodes, ASetIsLostWhenAMajorityHasLostItsData) {
    adopt_members();
    nodes.note_refusal(0, {objection::amnesia});
    EXPECT_FALSE(view.is_lost());
    nodes.note_refusal(1, {objection::amnesia});
    EXPECT_TRUE(view.is_lost());
    EXPECT_TRUE(view.can_be_read());
    EXPECT_EQ(diagnosis.trouble_of_set(), lost_set);
    // The trouble of an earlier repair, when another client has let a node join since.
    notes.trouble = lost_set;
    nodes.adopt(0, member("a2", "2:a2 1:b 1:c", 2));
    EXPECT_EQ(diagnosis.trouble_of_set(), few_members);
}

TEST_F(RedlockNodes, ASetIsNewUntilTheFirstQuarantineEnds) {
    for (std::size_t i = 0; i < 3; ++i)
        nodes.adopt(i, member(std::string(1, static_cast<char>('a' + i)), "1:a 1:b 1:c", 1, 1'000));
    EXPECT_TRUE(view.is_new_set());
    nodes.adopt(0, member("a", "1:a 1:b 1:c"));
    EXPECT_TRUE(view.is_new_set()) << "an operator has ended the quarantine of one node";
    time.advance(1s);
    EXPECT_FALSE(view.is_new_set());
    nodes.adopt(2, member("c2", "1:a 1:b 2:c2", 2, 1'000));
    EXPECT_FALSE(view.is_new_set()) << "the node has lost its data";
}

TEST_F(RedlockNodes, AMemberOfAnotherSetIsTheReason) {
    adopt_members();
    nodes.note_refusal(0, {objection::other_set});
    EXPECT_EQ(diagnosis.reason_of(0), errc::other_set);
    EXPECT_EQ(diagnosis.reason_of(1), errc::no_quorum);
    EXPECT_TRUE(view.has_voters());
    nodes.note_refusal(1, {objection::other_set});
    EXPECT_EQ(diagnosis.no_majority().reason(), errc::other_set);
}

TEST_F(RedlockNodes, ANodeThatIsLateIsSilentUntilItAnswers) {
    node_timing timing(nodes);
    timing.expect_answer(0, time.now() + 2s);
    timing.expect_answer(0, time.now() + 1s);
    timing.expect_answer(1, time.now() + 3s);
    EXPECT_EQ(timing.next_silence(), time.now() + 1s);
    time.advance(1s);
    EXPECT_TRUE(timing.is_silent(0));
    EXPECT_TRUE(timing.has_answering_majority());
    time.advance(2s);
    EXPECT_FALSE(timing.has_answering_majority());
    timing.on_answer(0);
    EXPECT_FALSE(timing.is_silent(0));
    EXPECT_TRUE(timing.has_answering_majority());
}

TEST_F(RedlockNodes, TheRoundTripIsThatOfAMajority) {
    node_timing timing(nodes);
    timing.note_round_trip(0, 8ms);
    EXPECT_EQ(timing.round_trip_of_majority(), duration{});
    timing.note_round_trip(1, 100ms);
    EXPECT_EQ(timing.round_trip_of_majority(), 100ms);
    // A shorter round trip is followed quickly, a longer one slowly.
    timing.note_round_trip(1, 20ms);
    EXPECT_EQ(timing.round_trip_of_majority(), 60ms);
    timing.note_round_trip(1, 140ms);
    EXPECT_EQ(timing.round_trip_of_majority(), 70ms);
    timing.note_round_trip(2, 9ms);
    EXPECT_EQ(timing.round_trip_of_majority(), 9ms);
}

TEST_F(RedlockNodes, AMinorityOfClocksCannotRaiseTheFloor) {
    node_clocks clocks(nodes);
    EXPECT_EQ(clocks.token_floor(), 0);
    clocks.note_clock(0, year_2026, time.now());
    clocks.note_clock(1, year_2026 + 24h, time.now());
    EXPECT_EQ(clocks.token_floor(), token_of_clock(year_2026.count() + 1'000));
    clocks.note_clock(2, year_2026 + 1h, time.now());
    EXPECT_EQ(clocks.token_floor(),
              token_of_clock((year_2026 + std::chrono::microseconds(1h)).count() + 1'000));
    links[1].is_up = false;
    EXPECT_EQ(clocks.token_floor(), token_of_clock(year_2026.count() + 1'000));
}

TEST_F(RedlockNodes, AClockGoesOnBetweenItsReadings) {
    node_clocks clocks(nodes);
    clocks.note_clock(0, std::chrono::microseconds(-1), time.now());
    EXPECT_FALSE(clocks.clock_of(0, time.now())) << "a clock before 1970 is not sound";
    clocks.note_clock(0, year_2026, time.now());
    EXPECT_EQ(clocks.clock_of(0, time.now() + 1s), year_2026 + 1s + 1ms);
    clocks.forget(0);
    EXPECT_FALSE(clocks.clock_of(0, time.now()));
}

TEST(GenesisRecord, HasATextForm) {
    const genesis_record record{.seed = 12, .nonces = {"a", "b.7", "c"}};
    EXPECT_EQ(text_of(record), "12 a b.7 c");
    const auto parsed = parse_genesis(text_of(record));
    EXPECT_EQ(parsed.seed, 12);
    EXPECT_EQ(parsed.nonces, record.nonces);
    EXPECT_TRUE(parse_genesis("").nonces.empty());
}

TEST(GenesisRecord, EachNodeGetsItsNonceAndAllMarks) {
    const set_parameters set{.set = "set"};
    const auto call = first_membership(set, {.seed = 12, .nonces = {"a", "b", "c"}}, 1, 5s);
    EXPECT_EQ(call.nonce, "b");
    EXPECT_EQ(call.vector, "1:a 1:b 1:c");
    EXPECT_EQ(call.highest, "12");
    EXPECT_EQ(call.quarantine_ms, "5000");
}

}  // namespace
}  // namespace pawl::redlock
