// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The server's data go back to an earlier state, and every connection stays.
#include "redis_fixture.hpp"

namespace {

using namespace chaos;
using support::redis_server;

class DataBack : public testing::Test, protected redis_fixture {
protected:
    static constexpr auto counter = "pawl:{it}:f";

    static pawl::fencing_token acquire_token(client& locks, pawl::lock_options options) {
        options.ttl = long_ttl;
        options.wait = patience;
        auto lock = locks.acquire("it", options);
        const auto token = lock.token();
        (void)lock.release();
        return token;
    }
    // `target` becomes a copy of `source`, whose data it then has for itself.
    static void copy_data(redis_server& target, redis_server& source) {
        const auto same = [&] {
            return target.execute({"GET", counter}).text == source.execute({"GET", counter}).text;
        };
        ASSERT_EQ(target.execute({"REPLICAOF", "127.0.0.1", std::to_string(source.port())}).text,
                  "OK");
        ASSERT_TRUE(eventually([&] {
            return target.execute({"INFO", "replication"}).text.find("master_link_status:up") !=
                       std::string::npos &&
                   same();
        }));
        ASSERT_EQ(target.execute({"REPLICAOF", "NO", "ONE"}).text, "OK");
    }
};

//   A: token t | the server is copied | A: more tokens | the server becomes a replica of the copy,
//   then a master again; A's connection stays | A: gets a token above all of them
TEST_F(DataBack, TokensGrowWhenAStaleCopyComesBack) {
    redis_server stale;
    client locks = proxied_client();
    auto newest = acquire_token(locks, {});
    copy_data(stale, server);
    for (int i = 0; i < 5; ++i)
        newest = std::max(newest, acquire_token(locks, {}));
    const auto connections = proxy.connections_ever();
    copy_data(server, stale);
    for (int i = 0; i < 3; ++i) {
        const auto next = acquire_token(locks, {});
        EXPECT_GT(next, newest);
        newest = next;
    }
    EXPECT_EQ(proxy.connections_ever(), connections) << "the connection has ended";
}

// Only the counter goes back, as RESTORE can do it; in every mode, and from one mode to the next.
TEST_F(DataBack, TokensGrowWhenTheirCounterIsRestored) {
    client locks = direct_client();
    pawl::fencing_token newest;
    std::string old;
    const std::vector<pawl::lock_options> modes{
        {},
        {.mode = pawl::lock_mode::shared},
        {.mode = pawl::lock_mode::permits, .total_permits = 2}};
    for (const auto& options : modes) {
        newest = std::max(newest, acquire_token(locks, options));
        old = server.execute({"DUMP", counter}).text;
        newest = std::max(newest, acquire_token(locks, options));
        ASSERT_EQ(server.execute({"RESTORE", counter, "0", old, "REPLACE"}).text, "OK");
        const auto next = acquire_token(locks, options);
        EXPECT_GT(next, newest);
        newest = next;
    }
}

// Lua's numbers are exact up to 2^53, the counter goes further.
TEST_F(DataBack, ACounterAboveWhatLuaCountsGrowsByOne) {
    client locks = direct_client();
    ASSERT_EQ(server.execute({"SET", counter, "9007199254740993"}).text, "OK");
    for (std::uint64_t i = 1; i < 4; ++i)
        EXPECT_EQ(acquire_token(locks, {}).value(), 9007199254740993U + i);
    ASSERT_EQ(server.execute({"SET", counter, "9223372036854775807"}).text, "OK");
    const auto failed = failure_of([&] { (void)acquire_token(locks, {}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::wrong_type) << failed;
}

// Java takes no tokens for these objects. Only Pawl uses their counter, so their tokens are never
// below the server's clock, and grow although the counter went back.
TEST_F(DataBack, RedissonsCounterGoesBackAndPawlsTokensDoNot) {
    const std::vector<std::pair<std::string, pawl::lock_options>> objects{
        {"?layout=redisson", {.mode = pawl::lock_mode::permits, .total_permits = 2}},
        {"?layout=redisson&object=semaphore",
         {.mode = pawl::lock_mode::permits, .total_permits = 2}},
        {"?layout=redisson&object=readwrite", {}},
        {"?layout=redisson&object=readwrite", {.mode = pawl::lock_mode::shared}}};
    for (const auto& [url, options] : objects) {
        (void)server.execute({"FLUSHALL"});
        client locks = direct_client(url);
        auto newest = acquire_token(locks, options);
        const auto old = server.execute({"GET", "redisson_lock_token:{it}"}).text;
        newest = acquire_token(locks, options);
        ASSERT_EQ(server.execute({"SET", "redisson_lock_token:{it}", old}).text, "OK");
        EXPECT_GT(acquire_token(locks, options), newest) << url;
        EXPECT_EQ(server.execute({"PTTL", "redisson_lock_token:{it}"}).number(), -1) << url;
    }
}

// A counter is kept for the URL's retention time after the last hold, and tokens keep growing after
// it has expired.
TEST_F(DataBack, ACounterIsKeptForAsLongAsTheUrlSays) {
    client usual = direct_client(), brief = direct_client("?token_retention=1000");
    const auto remaining = [this] { return server.execute({"PTTL", counter}).number(); };
    auto newest = acquire_token(usual, {});
    EXPECT_GT(remaining(), 86'000'000);
    newest = acquire_token(brief, {});
    EXPECT_LE(remaining(), 1000);
    ASSERT_TRUE(eventually([&] { return server.execute({"EXISTS", counter}).number() == 0; }));
    EXPECT_GT(acquire_token(brief, {}), newest);
}

}  // namespace
