// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What an attempt asks for, and what became of it by the answers of the nodes.
#include "idle_link.hpp"
#include "manual_time.hpp"

#include <redis/redlock/attempt_results.hpp>
#include <redis/redlock/lock_factory.hpp>

#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pawl::redlock {
namespace {

using namespace std::chrono_literals;

struct RedlockAttempt : ::testing::Test {
    RedlockAttempt() {
        std::vector<requested_lock> wanted;
        wanted.push_back(factory.lock_with("job", "00112233445566778899aabbccddeeff;p"));
        current = std::make_unique<attempt>(std::move(wanted), 10s, nodes.size(), context);
        current->sent_at = time.now();
    }
    void grant_at(std::size_t node, std::int64_t counter) {
        current->votes.count_grant(node, {}, {counter});
    }
    void refuse_at(std::size_t node, const std::string& holder, std::int64_t left_ms) {
        current->votes.count_refusal(node);
        current->node_states[node].is_held = true;
        current->node_states[node].left_ms = left_ms;
        current->rivals.count_refusal(node, {holder});
    }
    [[nodiscard]] attempt_result result() const {
        return attempt_results(nodes, timing).result_of(*current);
    }

    manual_time time;
    boost::asio::io_context loop;
    const backend_context context{.strand = loop.get_executor(), .time = &time};
    const redis::key_scheme scheme{"pawl", "", 0};
    const set_parameters set{.set = "set"};
    const std::unique_ptr<const node_layout> layout = make_fenced_layout(set);
    const lock_factory factory{scheme, *layout, ";process", time};
    std::array<idle_link, 3> links;
    const node_table nodes{{&links[0], &links[1], &links[2]}, {"n0", "n1", "n2"}, set, time};
    node_timing timing{nodes};
    std::unique_ptr<attempt> current;
};

TEST_F(RedlockAttempt, AGrantHasTheTokenAndTheDeadline) {
    grant_at(0, 7);
    grant_at(1, 7);
    current->keep();
    time.advance(1s);
    const auto answer = result();
    ASSERT_EQ(answer.grants.size(), 1U);
    EXPECT_EQ(answer.grants[0].token.value(), 7U);
    EXPECT_EQ(answer.grants[0].stored_value, current->locks->front().value);
    EXPECT_EQ(answer.grants[0].deadline, current->sent_at + 10s - drift(10s));
    EXPECT_FALSE(answer.is_in_line);
}

TEST_F(RedlockAttempt, OneHolderAtAMajorityHasTheLock) {
    refuse_at(0, "aa", 2'000);
    refuse_at(1, "aa", 3'000);
    const auto answer = result();
    EXPECT_TRUE(answer.grants.empty());
    EXPECT_FALSE(answer.trouble);
    EXPECT_FALSE(answer.split);
    EXPECT_TRUE(answer.is_in_line);
    EXPECT_EQ(answer.free_at, time.now() + 3s);
}

TEST_F(RedlockAttempt, ALeaseWithoutAnEndHasNoTimeAtWhichTheLockIsFree) {
    refuse_at(0, "aa", -1);
    refuse_at(1, "aa", 3'000);
    EXPECT_FALSE(result().free_at);
}

TEST_F(RedlockAttempt, DifferentHoldersAreASplit) {
    refuse_at(0, "aa", 2'000);
    refuse_at(1, "bb", 2'000);
    const auto answer = result();
    EXPECT_FALSE(answer.trouble);
    ASSERT_TRUE(answer.split);
    EXPECT_EQ(answer.split->reason(), errc::no_quorum);
}

TEST_F(RedlockAttempt, FewAnswersAreNoQuorum) {
    refuse_at(0, "aa", 2'000);
    current->votes.count_refusal(1);
    current->node_states[1].trouble = "has lost its connection";
    const auto answer = result();
    ASSERT_TRUE(answer.trouble);
    EXPECT_EQ(answer.trouble->reason(), errc::no_quorum);
    const std::string text = answer.trouble->what();
    EXPECT_NE(text.find("n0: has it held by another client"), std::string::npos) << text;
    EXPECT_NE(text.find("n1: has lost its connection"), std::string::npos) << text;
    EXPECT_NE(text.find("n2: had not answered yet"), std::string::npos) << text;
}

TEST_F(RedlockAttempt, FarNodesNeedALongerTtl) {
    timing.note_round_trip(0, 3s);
    timing.note_round_trip(1, 3s);
    const auto answer = result();
    ASSERT_TRUE(answer.trouble);
    const std::string text = answer.trouble->what();
    EXPECT_NE(text.find("use a ttl of at least 18 s."), std::string::npos) << text;
}

TEST_F(RedlockAttempt, OnlyRedissonsLayoutNamesAChannel) {
    EXPECT_TRUE(factory.lock_with("job", {}).channel.empty());
    const auto plain = make_plain_layout(set);
    EXPECT_TRUE(lock_factory(scheme, *plain, "", time).lock_with("job", {}).channel.empty());
    const auto redisson = make_redisson_layout(set, "");
    EXPECT_EQ(lock_factory(scheme, *redisson, "", time).lock_with("job", {}).channel,
              "redisson_lock__channel:{job}");
}

TEST_F(RedlockAttempt, AValueBeginsWithTheOwner) {
    claim wanted;
    wanted.name = "job";
    const auto lock = factory.make_lock(wanted, "0011");
    EXPECT_TRUE(lock.value.starts_with("0011;process")) << lock.value;
    EXPECT_EQ(lock.name, "job");
}

}  // namespace
}  // namespace pawl::redlock
