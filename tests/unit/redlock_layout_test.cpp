// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the layouts of Redlock's nodes send, in the order of the scripts' contracts, and what they
// read in the replies.
#include <redis/redlock/calls.hpp>

#include <pawl/error.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redlock {
namespace {

redis::reply integer(std::int64_t number) {
    redis::reply result;
    result.type = redis::reply::kind::integer;
    result.number = number;
    return result;
}

redis::reply text(std::string value) {
    redis::reply result;
    result.type = redis::reply::kind::string;
    result.text = std::move(value);
    return result;
}

redis::reply list(std::vector<redis::reply> items) {
    redis::reply result;
    result.type = redis::reply::kind::array;
    result.items = std::move(items);
    return result;
}

// SCRIPT KEYS | ARGV
template <class Call>
std::string words_of(const Call& call) {
    const auto command = call.command("run");
    std::string result(command.code().name);
    for (const auto each : command.keys())
        result += " " + std::string(each);
    result += " |";
    for (const auto each : command.arguments())
        result += " " + (each.empty() ? "-" : std::string(each));
    return result;
}

struct RedlockLayout : ::testing::Test {
    static std::vector<requested_lock> locks_of(std::vector<std::string> names,
                                                lock_mode mode = lock_mode::exclusive) {
        std::vector<requested_lock> result;
        for (const auto& name : names)
            result.push_back({.name = name,
                              .keys = redis::keys(name),
                              .value = name + "=",
                              .channel = name + "!",
                              .mode = mode});
        return result;
    }
    acquire_call acquire(const node_layout& layout, std::span<const requested_lock> locks) const {
        return {.layout = layout,
                .locks = locks,
                .ttl_ms = "1000",
                .client = "client",
                .place_ms = "10000",
                .floor = "5"};
    }
    static renew_call renew(const node_layout& layout, std::span<const requested_lock> locks) {
        renew_call result(layout);
        for (const auto& each : locks)
            result.add(each, fencing_token(7), std::chrono::seconds(1), "90", "80");
        return result;
    }

    const set_parameters set{.member_key = "member",
                             .quarantine_key = "quarantine",
                             .set = "set",
                             .keep_ms = "60000",
                             .channel_prefix = "prefix"};
    const std::unique_ptr<const node_layout> fenced = make_fenced_layout(set);
    const std::unique_ptr<const node_layout> plain = make_plain_layout(set);
    const std::unique_ptr<const node_layout> redisson = make_redisson_layout(set, "");
    const std::vector<requested_lock> writers = locks_of({"a", "b"});
    const std::vector<requested_lock> reader = locks_of({"a"}, lock_mode::shared);
};

TEST_F(RedlockLayout, FencedWriters) {
    EXPECT_EQ(words_of(acquire(*fenced, writers)),
              "acquire member quarantine a a:f a:q b b:f b:q"
              " | run set 1000 60000 client 10000 5 a= b=");
    EXPECT_EQ(words_of(confirm_call(set, writers, "nonce", {6, 8}, {7, 9})),
              "confirm member quarantine a a:f b b:f | run set 60000 nonce a= 6 7 b= 8 9");
    EXPECT_EQ(words_of(renew(*fenced, writers)),
              "renew member quarantine a a:f a:q b b:f b:q"
              " | run set 60000 prefix a= 7 1000 a 90 b= 7 1000 b 90");
    EXPECT_EQ(words_of(release_call{*fenced, writers, "7"}),
              "release member quarantine a a:f a:q b b:f b:q"
              " | run set 60000 prefix a= 7 a b= 7 b");
}

TEST_F(RedlockLayout, FencedReaders) {
    EXPECT_EQ(words_of(acquire(*fenced, reader)),
              "read_acquire member quarantine a a:f a:q a:h a:d"
              " | run set 1000 60000 client 10000 5 a= prefix a");
    EXPECT_EQ(words_of(confirm_call(set, reader, "nonce", {6}, {7})),
              "read_confirm member quarantine a a:f a:q a:h a:d | run set 60000 nonce a= 6 7");
    EXPECT_EQ(words_of(renew(*fenced, reader)),
              "read_renew member quarantine a a:f a:q a:h a:d"
              " | run set 60000 prefix a= 7 1000 a 90 80");
    EXPECT_EQ(words_of(release_call{*fenced, reader, "7"}),
              "read_release member quarantine a a:f a:q a:h a:d | run set 60000 prefix a= 7 a");
}

TEST_F(RedlockLayout, FencedAdministration) {
    const auto& lock = writers.front();
    EXPECT_EQ(words_of(leave_call{*fenced, lock, "client"}), "leave a a:q | client prefix a");
    EXPECT_EQ(words_of(inspect_call{*fenced, lock.keys}), "inspect a a:q a:h a:d |");
    EXPECT_EQ(words_of(counter_call{*fenced, lock.keys}),
              "counter member quarantine a a:f | run set");
    EXPECT_EQ(words_of(barrier_call{*fenced, lock, "7"}),
              "barrier member quarantine a a:f a:q a:h a:d | run set 60000 prefix 7 a");
}

TEST_F(RedlockLayout, Classic) {
    EXPECT_EQ(words_of(acquire(*plain, writers)),
              "classic_acquire a a:q b b:q | plain 1000 client 10000 a= b=");
    EXPECT_EQ(words_of(renew(*plain, writers)), "classic_renew a b | plain a= 1000 90 b= 1000 90");
    EXPECT_EQ(words_of(release_call{*redisson, writers, "0"}),
              "classic_release a a:q b b:q | redisson prefix a= a a! b= b b!");
    const auto& lock = writers.front();
    EXPECT_EQ(words_of(leave_call{*plain, lock, "client"}),
              "classic_leave a a:q | client prefix a");
    EXPECT_EQ(words_of(inspect_call{*plain, lock.keys}), "classic_inspect a a:q | plain");
    EXPECT_EQ(words_of(counter_call{*plain, lock.keys}), "classic_counter a |");
    EXPECT_EQ(words_of(barrier_call{*redisson, lock, "7"}),
              "classic_drop a a:q | redisson run prefix a a!");
    EXPECT_EQ(plain->key_type(), "string");
    EXPECT_EQ(redisson->key_type(), "hash");
}

TEST_F(RedlockLayout, OnlyMembersGrantWithCounters) {
    const auto member =
        list({integer(1), text("2"), text("2:n 1:m"), text("n"), text("7"), text("9")});
    const auto granted = acquire(*fenced, writers).read(member);
    EXPECT_TRUE(granted.is_granted);
    EXPECT_EQ(granted.member.incarnation, 2);
    EXPECT_EQ(granted.member.nonce, "n");
    EXPECT_EQ(granted.counters, (std::vector<std::int64_t>{7, 9}));
    EXPECT_THROW((void)acquire(*fenced, writers).read(list({integer(1)})), error);
    EXPECT_EQ(acquire(*plain, writers).read(list({integer(1)})).counters,
              (std::vector<std::int64_t>{0, 0}));
    const auto held = list({integer(0), integer(300), text("aa"), text("")});
    for (const auto* layout : {fenced.get(), plain.get()}) {
        const auto refused = acquire(*layout, writers).read(held);
        EXPECT_EQ(refused.left_ms, 300);
        EXPECT_EQ(refused.holders, (std::vector<std::string>{"aa", ""}));
    }
}

TEST_F(RedlockLayout, AVoteHasTheTimeOfTheNode) {
    const auto outcomes = list({integer(1), integer(0)});
    const auto voted = renew(*fenced, writers)
                           .read(list({integer(1), outcomes, text("2"), text("2:n 1:m"), text("n"),
                                       integer(1234)}));
    EXPECT_EQ(voted.node_ms, 1234);
    EXPECT_EQ(voted.member.nonce, "n");
    EXPECT_EQ(voted.outcomes.at(0), renewal::outcome::extended);
    EXPECT_EQ(voted.outcomes.at(1), renewal::outcome::refused);
    EXPECT_EQ(renew(*plain, writers).read(list({integer(1), outcomes, integer(1234)})).node_ms,
              1234);
}

TEST_F(RedlockLayout, AHoldersValueIsWithoutTheCounter) {
    const redis::keys keys("a");
    const auto readers = list({text("r;p;8"), integer(20), text("of another program"), integer(1)});
    const auto fenced_state =
        inspect_call{*fenced, keys}.read(list({text("w;p;7"), integer(30), integer(2), readers}));
    EXPECT_EQ(fenced_state.value, "w;p");
    EXPECT_EQ(fenced_state.token.value(), 7U);
    EXPECT_EQ(fenced_state.waiters, 2U);
    ASSERT_EQ(fenced_state.readers.size(), 1U);
    EXPECT_EQ(fenced_state.readers.front().value, "r;p");
    EXPECT_EQ(fenced_state.readers.front().token.value(), 8U);
    const auto plain_state =
        inspect_call{*plain, keys}.read(list({text("w;p;7"), integer(30), integer(2)}));
    EXPECT_EQ(plain_state.value, "w;p;7");
    EXPECT_TRUE(plain_state.readers.empty());
}

}  // namespace
}  // namespace pawl::redlock
