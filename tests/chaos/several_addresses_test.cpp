// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A host name that resolves to more than one address: one server, or no lock.
#include "host_names.hpp"
#include "redis_fixture.hpp"

#include <algorithm>

namespace {

using namespace chaos;

// `server` listens at 127.0.0.1, `second` at the same port of 127.0.0.2.
class SeveralAddresses : public testing::Test, protected redis_fixture {
protected:
    SeveralAddresses() { names.resolve_to("locks.test", {"127.0.0.1", "127.0.0.2"}); }

    [[nodiscard]] std::string url() const {
        return "redis://locks.test:" + std::to_string(server.port());
    }
    [[nodiscard]] std::unique_ptr<support::redis_server> make_second() const {
        return std::make_unique<support::redis_server>(support::redis_options{
            .config = {"bind 127.0.0.2", "port " + std::to_string(server.port())}});
    }
    void expect_refused(client& locks, const std::string& part) {
        const auto refusal = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
        ASSERT_TRUE(refusal.has_value());
        EXPECT_EQ(refusal->reason, errc::unreachable) << refusal;
        EXPECT_NE(refusal->sentence.find(part), std::string::npos) << refusal;
    }

    host_names names;
};

TEST_F(SeveralAddresses, OfTwoServersAreRefusedAtTheFirstConnection) {
    const auto second = make_second();
    client locks = client_at(url());
    expect_refused(locks, "127.0.0.1 and 127.0.0.2 are two");
    EXPECT_TRUE(server.keys().empty());
    EXPECT_TRUE(second->keys().empty());
}

// The first server restarts | B holds at the second | the first is back | C asks the first: it must
// not be granted what B holds.
TEST_F(SeveralAddresses, GiveALockOnceWhileTheFirstRestarts) {
    const auto second = make_second();
    server.terminate();
    client b = client_at(url());
    const auto lock = b.acquire("it", {.ttl = 3s, .wait = patience});
    server.start();
    client c = client_at(url());
    expect_refused(c, "name one of them");
    EXPECT_EQ(lock.state(), lock_state::held);
}

// B holds at the first | the first dies | only the second answers | B asks there | the first is
// back | B asks it
TEST_F(SeveralAddresses, KeepAClientAtTheServerThatItHasMet) {
    client b = client_at(url());
    ASSERT_TRUE(can_acquire(b));
    server.terminate();
    const auto second = make_second();
    ASSERT_TRUE(eventually([&] {
        const auto refusal = failure_of([&] { (void)b.try_acquire("it", {.ttl = 2s}); });
        return refusal && refusal->sentence.find("127.0.0.2 is another one") != std::string::npos;
    })) << client_log.text();
    EXPECT_TRUE(second->keys().empty());
    server.start();
    EXPECT_TRUE(can_acquire(b)) << client_log.text();
    EXPECT_TRUE(second->keys().empty());
}

TEST_F(SeveralAddresses, OfOneServerAreOneServer) {
    support::redis_server both({.config = {"bind 127.0.0.1 127.0.0.2"}});
    client locks = client_at("redis://locks.test:" + std::to_string(both.port()));
    ASSERT_TRUE(can_acquire(locks)) << client_log.text();
    const auto rows = locks.examine().findings;
    const auto row = std::ranges::find(rows, "address", &pawl::finding::topic);
    ASSERT_NE(row, rows.end());
    EXPECT_EQ(row->level, pawl::finding::grade::good);
    EXPECT_EQ(row->fact, "locks.test is 127.0.0.1 and 127.0.0.2, one server");
}

// A client that cannot tell that they are one server must not assume it.
TEST_F(SeveralAddresses, ThatCannotBeComparedAreRefused) {
    support::redis_server both(
        {.config = {"bind 127.0.0.1 127.0.0.2", "user default on nopass ~* &* +@all -info"}});
    client locks = client_at("redis://locks.test:" + std::to_string(both.port()));
    expect_refused(locks, "may be two servers");
}

// The doctor compares anew: the other server started after the client had connected.
TEST_F(SeveralAddresses, OfTwoServersAreABadFinding) {
    client locks = client_at(url());
    ASSERT_TRUE(can_acquire(locks));
    const auto rows = locks.examine().findings;
    const auto alone = std::ranges::find(rows, "address", &pawl::finding::topic);
    ASSERT_NE(alone, rows.end());
    EXPECT_EQ(alone->level, pawl::finding::grade::note);
    const auto second = make_second();
    const auto later = locks.examine().findings;
    const auto bad = std::ranges::find(later, "address", &pawl::finding::topic);
    ASSERT_NE(bad, later.end());
    EXPECT_EQ(bad->level, pawl::finding::grade::bad) << bad->fact;
    client refused = client_at(url());
    EXPECT_EQ(refused.examine().findings.front().level, pawl::finding::grade::bad);
}

// The first server dies | the name resolves to the second only | the client connects to it, and
// logs that
TEST_F(SeveralAddresses, FollowTheNameToAnotherServer) {
    names.resolve_to("locks.test", {"127.0.0.1"});
    client locks = client_at(url());
    ASSERT_TRUE(can_acquire(locks));
    server.terminate();
    const auto second = make_second();
    names.resolve_to("locks.test", {"127.0.0.2"});
    EXPECT_TRUE(can_acquire(locks)) << client_log.text();
    EXPECT_NE(client_log.text().find("leads to 127.0.0.2 now"), std::string::npos)
        << client_log.text();
}

// The name resolves to the second server | the first still runs and cuts the connection | the
// client reconnects to the first, learns the new address, and connects to the second
TEST_F(SeveralAddresses, FollowTheNameAwayFromAServerThatLives) {
    names.resolve_to("locks.test", {"127.0.0.1"});
    client locks = client_at(url());
    ASSERT_TRUE(can_acquire(locks));
    const auto second = make_second();
    names.resolve_to("locks.test", {"127.0.0.2"});
    (void)server.execute({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    (void)server.execute({"CLIENT", "KILL", "TYPE", "pubsub"});
    EXPECT_TRUE(eventually([&] { return can_acquire(locks) && !second->keys().empty(); }))
        << client_log.text();
    EXPECT_NE(client_log.text().find("does not lead to 127.0.0.1 any more"), std::string::npos)
        << client_log.text();
}

}  // namespace
