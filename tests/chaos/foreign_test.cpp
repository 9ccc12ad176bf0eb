// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One lock, several libraries: with `?key={name}` the key is the one of every library that uses
// plain SET NX PX. Also the other ways to reach a server: sockets, databases, namespaces.
#include "redis_fixture.hpp"

#include <algorithm>

namespace {

using namespace chaos;

// What redsync, pottery, node-redlock and redis-py do.
class Foreign : public testing::Test, protected redis_fixture {
protected:
    bool set_foreign_lock(const std::string& key, const std::string& value, int ms) {
        return server.execute({"SET", key, value, "NX", "PX", std::to_string(ms)}).text == "OK";
    }
    bool delete_foreign_lock(const std::string& key, const std::string& value) {
        const std::string text =
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end "
            "return 0";
        return server.execute({"EVAL", text, "1", key, value}).number() == 1;
    }
};

TEST_F(Foreign, HoldersExcludeUsAndWeExcludeThem) {
    client locks = direct_client("?key={name}");
    ASSERT_TRUE(set_foreign_lock("it", "theirs", 60000));
    EXPECT_FALSE(locks.try_acquire("it", {.ttl = 2s}).owns_lock());
    ASSERT_TRUE(delete_foreign_lock("it", "theirs"));
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_FALSE(set_foreign_lock("it", "theirs", 60000));
    EXPECT_FALSE(delete_foreign_lock("it", "theirs"));
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(set_foreign_lock("it", "theirs", 60000));
}

TEST_F(Foreign, KeyTemplatesMayBePercentEncoded) {
    for (const std::string& suffix :
         {std::string("?key=redlock:{name}"), std::string("?key=redlock:%7Bname%7D")}) {
        client locks = direct_client(suffix);
        auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        EXPECT_EQ(server.execute({"EXISTS", "redlock:it"}).number(), 1) << suffix;
        EXPECT_FALSE(set_foreign_lock("redlock:it", "theirs", 60000));
    }
    EXPECT_TRUE(eventually([&] { return server.execute({"EXISTS", "redlock:it"}).number() == 0; }));
}

// Their release does not notify Pawl's waiters; the server does, long before their ttl of a minute.
TEST_F(Foreign, ReleasesWakeOurWaiters) {
    client locks = direct_client("?key={name}");
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(set_foreign_lock("it", "theirs", 60000));
        held_lock acquired;
        background_task waiting(
            [&] { acquired = locks.acquire("it", {.ttl = 2s, .wait = patience}); });
        client observer = direct_client("?key={name}");
        ASSERT_TRUE(eventually([&] { return observer.inspect("it").waiters == 1; }));
        ASSERT_TRUE(delete_foreign_lock("it", "theirs"));
        waiting.join();
        EXPECT_EQ(acquired.release(), release_result::released);
    }
}

TEST_F(Foreign, LeasesThatRunOutAreNoticed) {
    client locks = direct_client("?key={name}");
    ASSERT_TRUE(set_foreign_lock("it", "theirs", 1500));
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = 1500ms + 2s});
    EXPECT_EQ(lock.release(), release_result::released);
}

// The other library overwrites Pawl's key: a loss, and Pawl's release leaves the new value alone.
TEST_F(Foreign, OverwritersTakeTheLockOver) {
    client locks = direct_client("?key={name}");
    auto lock = locks.acquire("it", {.ttl = 3s, .wait = patience});
    const loss_recorder loss(lock);
    (void)server.execute({"SET", "it", "theirs", "PX", "60000"});
    ASSERT_TRUE(loss.is_told_within(4s));
    EXPECT_EQ(lock.why_lost(), pawl::loss_reason::taken_over);
    EXPECT_EQ(lock.release(), release_result::taken_over);
    EXPECT_EQ(server.execute({"GET", "it"}).text, "theirs");
}

// 1. We hold the lock. 2. Somebody writes another type of data to one of its keys. 3. We release.
// If the hold was in that key (an exclusive one is in the lock's key, a shared one in :h), the lock
// belongs to another. Otherwise the hold stays until its lease ends, so the result is unknown.
TEST_F(Foreign, DataInOneOfItsKeysEndsOnlyTheHoldInThatKey) {
    client locks = direct_client();
    const auto release_with_list_at = [&](const std::string& key, pawl::lock_mode mode) {
        auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience, .mode = mode});
        (void)server.execute({"DEL", key});
        (void)server.execute({"RPUSH", key, "theirs"});
        const auto result = lock.release();
        (void)server.execute({"DEL", "pawl:{it}", "pawl:{it}:q", "pawl:{it}:h", "pawl:{it}:d"});
        return result;
    };
    const auto alone = pawl::lock_mode::exclusive;
    const auto shared = pawl::lock_mode::shared;
    EXPECT_EQ(release_with_list_at("pawl:{it}:q", alone), release_result::unknown);
    EXPECT_EQ(release_with_list_at("pawl:{it}:q", shared), release_result::unknown);
    EXPECT_EQ(release_with_list_at("pawl:{it}", alone), release_result::taken_over);
    EXPECT_EQ(release_with_list_at("pawl:{it}:h", shared), release_result::taken_over);
}

TEST_F(Foreign, HoldersAreShownWithoutAName) {
    client locks = direct_client("?key={name}");
    ASSERT_TRUE(set_foreign_lock("it", "theirs", 60000));
    const auto info = locks.inspect("it");
    ASSERT_TRUE(info.held_by.has_value());
    EXPECT_TRUE(info.held_by->host.empty());
    EXPECT_GT(info.held_by->remaining, 50s);
}

// Such a holder has no token. The counter has that of Pawl's last hold, which a resource would
// refuse.
TEST_F(Foreign, HoldersAreShownWithoutOurToken) {
    client locks = direct_client("?key={name}");
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    const auto token_shown = [&] { return locks.inspect("it").held_by.value().token; };
    EXPECT_EQ(token_shown(), lock.token());
    EXPECT_EQ(lock.release(), release_result::released);
    for (const std::string value : {"theirs", "a;b;c;d;e;f", "a;b;1;d;e;f"}) {
        ASSERT_TRUE(set_foreign_lock("it", value, 60000));
        EXPECT_FALSE(token_shown()) << value;
        EXPECT_FALSE(locks.list("it").at(0).held_by->token) << value;
        ASSERT_TRUE(delete_foreign_lock("it", value));
    }
}

// Without a key template only Pawl uses the key, so the counter is the holder's token.
TEST_F(Foreign, ChosenValuesOfOurOwnKeysHaveTheirToken) {
    client locks = direct_client();
    auto lock = locks.acquire_as("it", "ticket", {.ttl = long_ttl, .wait = patience});
    ASSERT_TRUE(lock.token());
    EXPECT_EQ(locks.inspect("it").held_by.value().token, lock.token());
}

// In two namespaces, a key of the lock `odd` has another type. The list leaves that lock out and
// has the others.
TEST_F(Foreign, DataInAKeyOfALockLeavesTheOthersListed) {
    client locks = direct_client("?key={name}"), own = direct_client();
    ASSERT_TRUE(set_foreign_lock("odd", "theirs", 60000));
    (void)server.execute({"LPUSH", "pawl:x:{odd}:q", "z"});
    (void)server.execute({"SET", "pawl:{odd}", "theirs"});
    (void)server.execute({"HSET", "pawl:{odd}:f", "z", "1"});
    auto own_lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    auto named_lock = own.acquire("it", {.ttl = long_ttl, .wait = patience});
    for (client* each : {&locks, &own}) {
        const auto infos = each->list("");
        ASSERT_GE(infos.size(), 1U);
        EXPECT_EQ(std::ranges::count(infos, "it", &pawl::lock_info::name), 1);
        EXPECT_EQ(std::ranges::count(infos, "odd", &pawl::lock_info::name), 0);
        const auto failed = failure_of([&] { (void)each->inspect("odd"); });
        EXPECT_TRUE(failed && failed->reason == errc::wrong_type);
    }
}

TEST_F(Foreign, WaysToTheServerAreOneLock) {
    client tcp = direct_client();
    client local = client_at(server.unix_url());
    auto lock = tcp.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_FALSE(local.try_acquire("it", {.ttl = 2s}).owns_lock());
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(local.try_acquire("it", {.ttl = 2s}).owns_lock());
}

TEST_F(Foreign, DatabasesAndNamespacesAreApart) {
    client database_zero = direct_client(), database_one = direct_client("/1"),
           tenant = direct_client("?namespace=tenant");
    client local_client = client_at(server.unix_url("?database=1"));
    auto a = database_zero.try_acquire("it", {.ttl = long_ttl});
    auto b = database_one.try_acquire("it", {.ttl = long_ttl});
    auto c = tenant.try_acquire("it", {.ttl = long_ttl});
    EXPECT_TRUE(a && b && c);
    EXPECT_FALSE(local_client.try_acquire("it", {.ttl = 2s}).owns_lock());
    EXPECT_EQ(database_zero.list().size(), 1U);
    EXPECT_EQ(tenant.list().size(), 1U);
}

}  // namespace
