// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Readers and writers over real nodes. models/redlock/readers.pml has the rules of their tokens.
#include "redlock_fixture.hpp"

#include <redlock_scripts.hpp>

#include <gmock/gmock.h>

#include <future>
#include <string>

namespace {

using namespace chaos;
namespace redlock_scripts = pawl::redlock::scripts;

constexpr pawl::try_options try_reading{.ttl = long_ttl, .mode = pawl::lock_mode::shared};

class RedlockReaders : public redlock_fixture {
protected:
    RedlockReaders() { redlock_group::begin_set(url); }

    // How many nodes have this many readers.
    std::size_t nodes_with(std::int64_t readers) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < group.node_count(); ++i)
            if (group.node(i).execute({"HLEN", "pawl:{it}:d"}).number() == readers) ++count;
        return count;
    }
    pawl::fencing_token counter_of(std::size_t node) {
        return pawl::fencing_token(
            std::stoull(group.node(node).execute({"GET", "pawl:{it}:f"}).text));
    }

    redlock_group group;
    const std::string url = group.url();
    client locks = client_at(url), others = client_at(url);
};

// Readers have the lock. B was told that it may try, and so is not in the line any more; C waits.
//   B gives up before it tries | C must be told, and not only look again a second later
// A client that was still in the line has not been told, and C keeps its place.
TEST_F(RedlockReaders, ThatWereToldAndGiveUpPassItOn) {
    auto& node = group.node(0);
    const auto leave = [&](const std::string& client) {
        (void)node.execute({"EVAL", std::string(redlock_scripts::leave.text), "2", "pawl:{it}",
                            "pawl:{it}:q", client, "&pawl:", "it"});
        return node.execute({"ZCARD", "pawl:{it}:q"}).number();
    };
    (void)node.execute({"SET", "pawl:{it}", "pawl:readers", "PX", "60000"});
    (void)node.execute({"ZADD", "pawl:{it}:q", "1", "a", "2", "c"});
    EXPECT_EQ(leave("a"), 1);
    EXPECT_EQ(leave("b"), 0);
}

//   A and B read | node 0 is frozen, with a renewal of A's in one of its sockets | A's release
//   arrives over another connection, and the node executes the renewal last: A must not read again
//   B reads on, so the counter cannot tell: a renewal that is executed soon restores a reader
TEST_F(RedlockReaders, ThatWereReleasedAreNotRestoredLate) {
    auto first = locks.acquire("it", shared), second = others.acquire("it", shared);
    // The first renewal brings them to a node that missed the acquire.
    ASSERT_TRUE(eventually([&] { return nodes_with(2) == 3; }, long_ttl));
    auto& node = group.node(0);
    const auto details = node.execute({"HGETALL", "pawl:{it}:d"}).items;
    const auto owner = details.at(0).text, detail = details.at(1).text;
    const auto renew_until = [&](std::int64_t until_ms) {
        const auto member = [&](const std::string& field) {
            return node.execute({"HGET", "pawl:redlock", field}).text;
        };
        const auto value = detail.substr(0, detail.rfind(';'));
        (void)node.execute({"EVAL",
                            std::string(redlock_scripts::read_renew.text),
                            "7",
                            "pawl:redlock",
                            "pawl:redlock:q",
                            "pawl:{it}",
                            "pawl:{it}:f",
                            "pawl:{it}:q",
                            "pawl:{it}:h",
                            "pawl:{it}:d",
                            member("run"),
                            member("set"),
                            "3600000",
                            "c:",
                            value,
                            std::to_string(first.token().value()),
                            "20000",
                            "it",
                            "",
                            std::to_string(until_ms)});
    };
    (void)node.execute({"HDEL", "pawl:{it}:d", owner});
    renew_until(node.time_ms() - 1);
    EXPECT_EQ(nodes_with(2), 2U);
    renew_until(node.time_ms() + 60'000);
    EXPECT_EQ(nodes_with(2), 3U);
    EXPECT_EQ(first.release(), release_result::released);
    EXPECT_EQ(second.release(), release_result::released);
}

//   W holds (t 41) | W is paused, its lease ends | R reads, and the resource notes R's token
//   W wakes up, and writes with 41               | the resource must refuse W
TEST_F(RedlockReaders, HaveALargerTokenThanTheWriterBefore) {
    const auto writer = locks.acquire("it", {.ttl = long_ttl});
    const auto before = writer.token();
    EXPECT_FALSE(others.try_acquire("it", try_reading).owns_lock());
    (void)locks.force_release("it");
    const auto first = others.acquire("it", shared), second = locks.acquire("it", shared);
    EXPECT_GT(first.token(), before);
    EXPECT_EQ(second.token(), first.token());
}

//   node 0 has the counter 50, from a writer that got nothing else; node 1 has 40, node 2 is frozen
//   R gets 50 and 40         | its token is 50: node 1 must raise its counter to it
//   R leaves, W gets 1 and 2 | without that, W would have 41, and the resource would refuse it
TEST_F(RedlockReaders, ConfirmTheirTokenWhereTheCounterIsSmaller) {
    const auto first = locks.acquire("it", {.ttl = long_ttl}).token();
    ASSERT_TRUE(eventually([&] { return group.count_of("it") == 0; }));
    const pawl::fencing_token ahead(first.value() + 9);
    (void)group.node(0).execute({"SET", "pawl:{it}:f", to_string(ahead)});
    group.node(2).freeze();
    auto reader = locks.acquire("it", shared);
    EXPECT_GT(reader.token(), ahead);
    EXPECT_TRUE(eventually([&] { return counter_of(1) == reader.token(); }));
    EXPECT_EQ(reader.release(), release_result::released);
    group.node(2).thaw();
    group.node(0).kill9();
    EXPECT_GT(others.acquire("it", {.ttl = long_ttl, .wait = patience}).token(), reader.token());
}

TEST_F(RedlockReaders, LeaveOneAfterTheOther) {
    auto first = locks.acquire("it", shared), second = others.acquire("it", shared);
    // A new client may know only a majority yet.
    ASSERT_TRUE(eventually([&] { return nodes_with(2) >= 2; }));
    const auto info = locks.inspect("it");
    ASSERT_TRUE(info.held_by);
    EXPECT_EQ(info.held_by->mode, pawl::lock_mode::shared);
    EXPECT_EQ(info.held_by->token, first.token());
    ASSERT_EQ(info.others.size(), 1U);
    EXPECT_EQ(first.release(), release_result::released);
    EXPECT_TRUE(eventually([&] { return nodes_with(2) == 0 && nodes_with(1) >= 2; }));
    EXPECT_FALSE(locks.try_acquire("it", {.ttl = long_ttl}).owns_lock());
    EXPECT_EQ(second.release(), release_result::released);
    EXPECT_TRUE(eventually([&] { return group.count_of("it") == 0 && nodes_with(0) == 3; }));
}

//   R reads, W waits, R2 comes | R2 must wait, or readers that follow each other starve W
//   W gives up                 | nothing keeps R2 out any more
TEST_F(RedlockReaders, AreKeptOutByAWriterThatWaits) {
    const auto first = locks.acquire("it", shared);
    std::stop_source enough;
    auto writer = std::async(std::launch::async, [&] {
        try {
            (void)others.acquire("it", {.ttl = long_ttl}, enough.get_token());
            return errc::protocol;
        } catch (const pawl::error& e) {
            return e.reason();
        }
    });
    EXPECT_TRUE(eventually([&] { return !locks.try_acquire("it", try_reading).owns_lock(); }));
    auto late = std::async(std::launch::async, [&] { return locks.acquire("it", shared); });
    enough.request_stop();
    EXPECT_EQ(writer.get(), errc::cancelled);
    EXPECT_TRUE(late.get().owns_lock());
    EXPECT_EQ(first.state(), lock_state::held);
}

TEST_F(RedlockReaders, AreRestoredAtANodeThatHasLostThem) {
    const auto reader = locks.acquire("it", {.ttl = 2s, .mode = pawl::lock_mode::shared});
    ASSERT_TRUE(eventually([&] { return nodes_with(1) == 3; }));
    (void)group.node(0).execute({"DEL", "pawl:{it}", "pawl:{it}:h", "pawl:{it}:d"});
    EXPECT_TRUE(eventually([&] { return group.count_of("it") == 3 && nodes_with(1) == 3; }));
    EXPECT_EQ(reader.state(), lock_state::held);
}

//   node 0 is at a larger counter than the operator's barrier, and has R with a smaller one
//   the barrier raises nothing at node 0 | it must end R there all the same
TEST_F(RedlockReaders, AreEndedByAForcedRelease) {
    const auto first = locks.acquire("it", shared), second = others.acquire("it", shared);
    ASSERT_TRUE(eventually([&] { return nodes_with(2) >= 2; }));
    EXPECT_TRUE(locks.force_release("it"));
    EXPECT_TRUE(eventually(
        [&] { return first.lost().stop_requested() && second.lost().stop_requested(); }));
    EXPECT_EQ(second.why_lost(), pawl::loss_reason::forced);
    EXPECT_TRUE(eventually([&] { return group.count_of("it") == 0 && nodes_with(0) == 3; }));
    EXPECT_GT(others.acquire("it", {.ttl = long_ttl}).token(), second.token());
}

//   W becomes a reader at nodes 0 and 1; node 2 is frozen, and keeps W's key
//   node 2 goes on | the next renewal of the reader must change it there, too
TEST_F(RedlockReaders, AWriterBecomesOneAlsoWhereItsRequestWasLate) {
    auto hold = locks.acquire("it", {.ttl = 3s});
    ASSERT_TRUE(eventually([&] { return group.count_of("it") == 3; }));
    group.node(2).freeze();
    const auto token = hold.token();
    hold.downgrade();
    EXPECT_EQ(hold.token(), token);
    const auto beside = others.acquire("it", shared);
    EXPECT_EQ(beside.token(), token);
    group.node(2).thaw();
    EXPECT_TRUE(eventually(
        [&] {
            return group.node(2).execute({"GET", "pawl:{it}"}).text == "pawl:readers";
        },
        30s));
    EXPECT_EQ(hold.release(), release_result::released);
}

// A mark without a reader would keep everybody out for a ttl.
TEST_F(RedlockReaders, WithoutTheirRightsNothingIsChanged) {
    for (std::size_t i = 0; i < group.node_count(); ++i)
        (void)group.node(i).execute({"ACL", "SETUSER", "default", "-pexpireat"});
    try {
        (void)locks.try_acquire("it", try_reading);
        ADD_FAILURE() << "a reader without rights was granted the lock";
    } catch (const pawl::error& e) {
        EXPECT_THAT(e.what(), testing::HasSubstr("no rights for readers")) << e.what();
    }
    EXPECT_EQ(group.count_of("it"), 0U);
    EXPECT_TRUE(locks.try_acquire("it", {.ttl = long_ttl}).owns_lock());
}

}  // namespace
