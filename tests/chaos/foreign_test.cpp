// One lock, several libraries: with `?key={name}` the key is that of everybody who uses plain SET
// NX PX. And the other ways to reach a server: sockets, databases, namespaces.
#include "scene.hpp"

#include <algorithm>

namespace {

using namespace chaos;

// What redsync, pottery, node-redlock and redis-py do.
class Foreign : public testing::Test, protected scene {
protected:
    bool take(const std::string& key, const std::string& value, int ms) {
        return server.ask({"SET", key, value, "NX", "PX", std::to_string(ms)}).text == "OK";
    }
    bool give_back(const std::string& key, const std::string& value) {
        const std::string text =
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end "
            "return 0";
        return server.ask({"EVAL", text, "1", key, value}).number() == 1;
    }
};

TEST_F(Foreign, HoldersExcludeUsAndWeExcludeThem) {
    client locks = direct("?key={name}");
    ASSERT_TRUE(take("it", "theirs", 60000));
    EXPECT_FALSE(locks.try_acquire("it", {.ttl = 2s}).owns_lock());
    ASSERT_TRUE(give_back("it", "theirs"));
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_FALSE(take("it", "theirs", 60000));
    EXPECT_FALSE(give_back("it", "theirs"));
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(take("it", "theirs", 60000));
}

TEST_F(Foreign, KeyTemplatesAreTakenAsTheyAre) {
    for (const std::string& more :
         {std::string("?key=redlock:{name}"), std::string("?key=redlock:%7Bname%7D")}) {
        client locks = direct(more);
        auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        EXPECT_EQ(server.ask({"EXISTS", "redlock:it"}).number(), 1) << more;
        EXPECT_FALSE(take("redlock:it", "theirs", 60000));
    }
    EXPECT_TRUE(eventually([&] { return server.ask({"EXISTS", "redlock:it"}).number() == 0; }));
}

// Their release says nothing to our waiters: the server does, long before their ttl of a minute.
TEST_F(Foreign, ReleasesWakeOurWaiters) {
    client locks = direct("?key={name}");
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(take("it", "theirs", 60000));
        held_lock got;
        beside waiting([&] { got = locks.acquire("it", {.ttl = 2s, .wait = patience}); });
        client eyes = direct("?key={name}");
        ASSERT_TRUE(eventually([&] { return eyes.inspect("it").waiters == 1; }));
        ASSERT_TRUE(give_back("it", "theirs"));
        waiting.join();
        EXPECT_EQ(got.release(), release_result::released);
    }
}

TEST_F(Foreign, LeasesThatRunOutAreNoticed) {
    client locks = direct("?key={name}");
    ASSERT_TRUE(take("it", "theirs", 1500));
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = 1500ms + 2s});
    EXPECT_EQ(lock.release(), release_result::released);
}

// They took our key by force: a loss, and our release leaves theirs alone.
TEST_F(Foreign, OverwritersTakeTheLockOver) {
    client locks = direct("?key={name}");
    auto lock = locks.acquire("it", {.ttl = 3s, .wait = patience});
    const bell loss(lock);
    (void)server.ask({"SET", "it", "theirs", "PX", "60000"});
    ASSERT_TRUE(loss.rang_within(4s));
    EXPECT_EQ(lock.why_lost(), pawl::loss_reason::taken_over);
    EXPECT_EQ(lock.release(), release_result::taken_over);
    EXPECT_EQ(server.ask({"GET", "it"}).text, "theirs");
}

// 1. We hold it. 2. Somebody writes another type of data to one of its keys. 3. We give it back:
// only where the lock itself was overwritten it is somebody else's. Else it is ours, and stays
// until the lease ends: nobody may be told that it was released, or lost.
TEST_F(Foreign, DataBesideTheLockIsNoLoss) {
    client locks = direct();
    const auto found = [&](const std::string& key, pawl::lock_mode mode) {
        auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience, .mode = mode});
        (void)server.ask({"DEL", key});
        (void)server.ask({"RPUSH", key, "theirs"});
        const auto result = lock.release();
        (void)server.ask({"DEL", "pawl:{it}", "pawl:{it}:q", "pawl:{it}:h", "pawl:{it}:d"});
        return result;
    };
    const auto alone = pawl::lock_mode::exclusive;
    const auto shared = pawl::lock_mode::shared;
    EXPECT_EQ(found("pawl:{it}:q", alone), release_result::unknown);
    EXPECT_EQ(found("pawl:{it}:q", shared), release_result::unknown);
    EXPECT_EQ(found("pawl:{it}", alone), release_result::taken_over);
    EXPECT_EQ(found("pawl:{it}:h", shared), release_result::taken_over);
}

TEST_F(Foreign, HoldersAreShownWithoutAName) {
    client locks = direct("?key={name}");
    ASSERT_TRUE(take("it", "theirs", 60000));
    const auto found = locks.inspect("it");
    ASSERT_TRUE(found.held_by.has_value());
    EXPECT_TRUE(found.held_by->host.empty());
    EXPECT_GT(found.held_by->remaining, 50s);
}

// The token was that of the hold before: a resource refuses who would come with it.
TEST_F(Foreign, HoldersAreShownWithoutOurToken) {
    client locks = direct("?key={name}");
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    const auto token_shown = [&] { return locks.inspect("it").held_by.value().token; };
    EXPECT_EQ(token_shown(), lock.token());
    EXPECT_EQ(lock.release(), release_result::released);
    for (const std::string value : {"theirs", "a;b;c;d;e;f", "a;b;1;d;e;f"}) {
        ASSERT_TRUE(take("it", value, 60000));
        EXPECT_FALSE(token_shown()) << value;
        EXPECT_FALSE(locks.list("it").at(0).held_by->token) << value;
        ASSERT_TRUE(give_back("it", value));
    }
}

// Without a template nobody else uses the key: a value of the caller's own did count.
TEST_F(Foreign, ChosenValuesOfOurOwnKeysHaveTheirToken) {
    client locks = direct();
    auto lock = locks.acquire_as("it", "ticket", {.ttl = long_ttl, .wait = patience});
    ASSERT_TRUE(lock.token());
    EXPECT_EQ(locks.inspect("it").held_by.value().token, lock.token());
}

// A list beside one lock and a hash beside another: of these alone nothing is known.
TEST_F(Foreign, DataBesideALockLeavesTheOthersListed) {
    client locks = direct("?key={name}"), own = direct();
    ASSERT_TRUE(take("odd", "theirs", 60000));
    (void)server.ask({"LPUSH", "pawl:x:{odd}:q", "z"});
    (void)server.ask({"SET", "pawl:{odd}", "theirs"});
    (void)server.ask({"HSET", "pawl:{odd}:f", "z", "1"});
    auto one = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    auto two = own.acquire("it", {.ttl = long_ttl, .wait = patience});
    for (client* each : {&locks, &own}) {
        const auto found = each->list("");
        ASSERT_GE(found.size(), 1U);
        EXPECT_EQ(std::ranges::count(found, "it", &pawl::lock_info::name), 1);
        EXPECT_EQ(std::ranges::count(found, "odd", &pawl::lock_info::name), 0);
        const auto what = failure_of([&] { (void)each->inspect("odd"); });
        EXPECT_TRUE(what && what->reason == errc::wrong_type);
    }
}

TEST_F(Foreign, WaysToTheServerAreOneLock) {
    client tcp = direct();
    client local = at(server.unix_url());
    auto lock = tcp.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_FALSE(local.try_acquire("it", {.ttl = 2s}).owns_lock());
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(local.try_acquire("it", {.ttl = 2s}).owns_lock());
}

TEST_F(Foreign, DatabasesAndNamespacesAreApart) {
    client zero = direct(), one = direct("/1"), tenant = direct("?namespace=tenant");
    client local_one = at(server.unix_url("?database=1"));
    auto a = zero.try_acquire("it", {.ttl = long_ttl});
    auto b = one.try_acquire("it", {.ttl = long_ttl});
    auto c = tenant.try_acquire("it", {.ttl = long_ttl});
    EXPECT_TRUE(a && b && c);
    EXPECT_FALSE(local_one.try_acquire("it", {.ttl = 2s}).owns_lock());
    EXPECT_EQ(zero.list().size(), 1U);
    EXPECT_EQ(tenant.list().size(), 1U);
}

}  // namespace
