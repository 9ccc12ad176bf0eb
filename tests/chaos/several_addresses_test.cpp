// A host's name that leads to more than one address: one server, or no lock.
#include "host_names.hpp"
#include "scene.hpp"

#include <algorithm>

namespace {

using namespace chaos;

// `server` listens at 127.0.0.1, `second` at the same port of 127.0.0.2.
class SeveralAddresses : public testing::Test, protected scene {
protected:
    SeveralAddresses() { names.lead("locks.test", {"127.0.0.1", "127.0.0.2"}); }

    [[nodiscard]] std::string url() const {
        return "redis://locks.test:" + std::to_string(server.port());
    }
    [[nodiscard]] std::unique_ptr<support::redis_server> make_second() const {
        return std::make_unique<support::redis_server>(support::redis_plan{
            .config = {"bind 127.0.0.2", "port " + std::to_string(server.port())}});
    }
    void expect_refused(client& locks, const std::string& says) {
        const auto refusal = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
        ASSERT_TRUE(refusal.has_value());
        EXPECT_EQ(refusal->reason, errc::unreachable) << refusal;
        EXPECT_NE(refusal->sentence.find(says), std::string::npos) << refusal;
    }

    host_names names;
};

TEST_F(SeveralAddresses, OfTwoServersAreRefusedAtTheFirstConnection) {
    const auto second = make_second();
    client locks = at(url());
    expect_refused(locks, "127.0.0.1 and 127.0.0.2 are two");
    EXPECT_TRUE(server.keys().empty());
    EXPECT_TRUE(second->keys().empty());
}

// The first server restarts | B holds at the second | the first is there again | C asks the first:
// it must not be given what B holds.
TEST_F(SeveralAddresses, GiveALockOnceWhileTheFirstRestarts) {
    const auto second = make_second();
    server.terminate();
    client b = at(url());
    const auto lock = b.acquire("it", {.ttl = 3s, .wait = patience});
    server.start();
    client c = at(url());
    expect_refused(c, "name one of them");
    EXPECT_EQ(lock.state(), lock_state::held);
}

// B holds at the first | the first dies | only the second answers | B asks there | the first is
// back | B asks it
TEST_F(SeveralAddresses, KeepAClientAtTheServerThatItHasMet) {
    client b = at(url());
    ASSERT_TRUE(gives_a_lock(b));
    server.terminate();
    const auto second = make_second();
    ASSERT_TRUE(eventually([&] {
        const auto refusal = failure_of([&] { (void)b.try_acquire("it", {.ttl = 2s}); });
        return refusal && refusal->sentence.find("127.0.0.2 is another one") != std::string::npos;
    })) << notes.text();
    EXPECT_TRUE(second->keys().empty());
    server.start();
    EXPECT_TRUE(gives_a_lock(b)) << notes.text();
    EXPECT_TRUE(second->keys().empty());
}

TEST_F(SeveralAddresses, OfOneServerAreOneServer) {
    support::redis_server both({.config = {"bind 127.0.0.1 127.0.0.2"}});
    client locks = at("redis://locks.test:" + std::to_string(both.port()));
    ASSERT_TRUE(gives_a_lock(locks)) << notes.text();
    const auto rows = locks.examine().findings;
    const auto row = std::ranges::find(rows, "address", &pawl::finding::topic);
    ASSERT_NE(row, rows.end());
    EXPECT_EQ(row->how, pawl::finding::grade::good);
    EXPECT_EQ(row->fact, "locks.test is 127.0.0.1 and 127.0.0.2, one server");
}

// Who cannot tell that they are one must not believe it.
TEST_F(SeveralAddresses, ThatCannotBeComparedAreRefused) {
    support::redis_server both(
        {.config = {"bind 127.0.0.1 127.0.0.2", "user default on nopass ~* &* +@all -info"}});
    client locks = at("redis://locks.test:" + std::to_string(both.port()));
    expect_refused(locks, "may be two servers");
}

// The doctor compares anew: the other server came up after the client had connected.
TEST_F(SeveralAddresses, OfTwoServersAreABadFinding) {
    client locks = at(url());
    ASSERT_TRUE(gives_a_lock(locks));
    const auto rows = locks.examine().findings;
    const auto alone = std::ranges::find(rows, "address", &pawl::finding::topic);
    ASSERT_NE(alone, rows.end());
    EXPECT_EQ(alone->how, pawl::finding::grade::note);
    const auto second = make_second();
    const auto later = locks.examine().findings;
    const auto bad = std::ranges::find(later, "address", &pawl::finding::topic);
    ASSERT_NE(bad, later.end());
    EXPECT_EQ(bad->how, pawl::finding::grade::bad) << bad->fact;
    client refused = at(url());
    EXPECT_EQ(refused.examine().findings.front().how, pawl::finding::grade::bad);
}

// The first server dies | the name leads to the second only | the client goes there, and says so
TEST_F(SeveralAddresses, FollowTheNameToAnotherServer) {
    names.lead("locks.test", {"127.0.0.1"});
    client locks = at(url());
    ASSERT_TRUE(gives_a_lock(locks));
    server.terminate();
    const auto second = make_second();
    names.lead("locks.test", {"127.0.0.2"});
    EXPECT_TRUE(gives_a_lock(locks)) << notes.text();
    EXPECT_NE(notes.text().find("leads to 127.0.0.2 now"), std::string::npos) << notes.text();
}

// The name leads to the second server | the first is still there and cuts the connection | the
// client comes back to the first, hears where the name leads, and goes to the second
TEST_F(SeveralAddresses, FollowTheNameAwayFromAServerThatLives) {
    names.lead("locks.test", {"127.0.0.1"});
    client locks = at(url());
    ASSERT_TRUE(gives_a_lock(locks));
    const auto second = make_second();
    names.lead("locks.test", {"127.0.0.2"});
    (void)server.ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    (void)server.ask({"CLIENT", "KILL", "TYPE", "pubsub"});
    EXPECT_TRUE(eventually([&] { return gives_a_lock(locks) && !second->keys().empty(); }))
        << notes.text();
    EXPECT_NE(notes.text().find("does not lead to 127.0.0.1 any more"), std::string::npos)
        << notes.text();
}

}  // namespace
