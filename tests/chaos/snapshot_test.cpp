// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A machine is restored from a snapshot while the original runs: the same holder twice, with the
// same owners. The test sends the second one's requests with the words of the first.
#include "redis_fixture.hpp"

#include <redis_scripts.hpp>

namespace {

using namespace chaos;
namespace scripts = pawl::redis::scripts;

class Snapshot : public testing::Test, protected redis_fixture {
protected:
    // The server knows the scripts, so that a request by hash is executed at once.
    Snapshot() {
        for (const auto* each : {&scripts::renew, &scripts::release})
            (void)server.execute({"SCRIPT", "LOAD", std::string(each->text)});
    }
    support::command_words last(const pawl::redis::script& which) {
        support::command_words command;
        for (const auto& each : proxy.commands())
            if (script(which)(each.words)) command = each.words;
        return command;
    }
    std::int64_t first_number(const support::command_words& command) {
        return server.execute(command).items.at(0).number();
    }
    std::int64_t status(const support::command_words& release) {
        return server.execute(release).number();
    }
};

//   A: holds the lock, a snapshot of A is started as A' | both renew: the server cannot tell them
//   apart | A releases, B acquires | no request of A' changes anything: its renewal is refused,
//   which tells A', and its release is refused; its token is smaller than B's
TEST_F(Snapshot, TheSecondHolderIsRefusedOnceTheFirstHasGivenItBack) {
    client locks = proxied_client(), others = direct_client();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    ASSERT_TRUE(eventually([&] { return proxy.count(script(scripts::renew)) > 0; }));
    const auto renewal = last(scripts::renew);
    EXPECT_EQ(first_number(renewal), 1) << "both count as the holder";
    EXPECT_EQ(lock.state(), lock_state::held);
    EXPECT_EQ(lock.release(), release_result::released);
    const auto release = last(scripts::release);
    auto next = others.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
    EXPECT_EQ(first_number(renewal), 0);
    EXPECT_EQ(status(release), 2);
    next.renew();
    EXPECT_EQ(next.release(), release_result::released);
}

//   A: reads, A' is A's copy | A' releases | A's renewal is refused: A is told
TEST_F(Snapshot, TheFirstIsToldWhenTheSecondGivesItBack) {
    client locks = proxied_client();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const loss_recorder loss(lock);
    auto other = locks.acquire("other", {.ttl = long_ttl, .wait = patience});
    EXPECT_EQ(other.release(), release_result::released);
    auto release = last(scripts::release);
    const auto value = server.execute({"GET", "pawl:{it}"}).text;
    for (auto& word : release) {
        if (const auto at = word.find("{other}"); at != std::string::npos)
            word.replace(at, 7, "{it}");
        if (word.find(';') != std::string::npos && word.find(";") == 32) word = value;
    }
    EXPECT_EQ(status(release), 1);
    ASSERT_TRUE(loss.is_told_within(10s));
    EXPECT_EQ(lock.why_lost(), pawl::loss_reason::missing);
}

//   A and A' draw the same owner, from a kernel that does not know that it was cloned | A acquires
//   the lock | A' enters the queue, refreshes, and finds itself to be the holder: with A's token,
//   so that no resource tells them apart. docs/guide/guarantees.md warns of this
TEST_F(Snapshot, TwoThatDrawTheSameOwnerGetOneLock) {
    client locks = direct_client();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    const auto value = server.execute({"GET", "pawl:{it}"}).text;
    const auto prefix = value.substr(0, value.rfind(';'));
    support::command_words refresh{"EVAL", std::string(scripts::refresh.text), "6"};
    for (const char* part : {"", ":f", ":q", ":w", ":h", ":d"})
        refresh.push_back(std::string("pawl:{it}") + part);
    for (const char* each : {"0 1000", "pawl:c:0:", "c:o"})
        refresh.emplace_back(each);
    refresh.push_back(prefix);
    for (const char* each : {"1200", "1900", "9500", "x", "0", "run"})
        refresh.emplace_back(each);
    const auto reply = server.execute(refresh);
    EXPECT_EQ(reply.items.at(0).number(), 1);
    EXPECT_EQ(reply.items.at(1).text, to_string(lock.token()));
}

}  // namespace
