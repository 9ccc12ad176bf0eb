// The server's data go back to what they were, and every connection stays.
#include "scene.hpp"

namespace {

using namespace chaos;
using support::redis_server;

class DataBack : public testing::Test, protected scene {
protected:
    static constexpr auto counter = "pawl:{it}:f";

    static pawl::fencing_token token_once(client& locks, pawl::lock_options options) {
        options.ttl = long_ttl;
        options.wait = patience;
        auto lock = locks.acquire("it", options);
        const auto token = lock.token();
        (void)lock.release();
        return token;
    }
    // `of` becomes a copy of `from`, whose data it then has for itself.
    static void copy(redis_server& of, redis_server& from) {
        const auto same = [&] {
            return of.ask({"GET", counter}).text == from.ask({"GET", counter}).text;
        };
        ASSERT_EQ(of.ask({"REPLICAOF", "127.0.0.1", std::to_string(from.port())}).text, "OK");
        ASSERT_TRUE(eventually([&] {
            return of.ask({"INFO", "replication"}).text.find("master_link_status:up") !=
                       std::string::npos &&
                   same();
        }));
        ASSERT_EQ(of.ask({"REPLICAOF", "NO", "ONE"}).text, "OK");
    }
};

//   A: token t | a copy of the server is made | A: more tokens | the server becomes a replica of
//   the copy, then a master again; A's connection stays | A: above all of them
TEST_F(DataBack, TokensGrowWhenAStaleCopyComesBack) {
    redis_server stale;
    client locks = proxied();
    auto newest = token_once(locks, {});
    copy(stale, server);
    for (int i = 0; i < 5; ++i)
        newest = std::max(newest, token_once(locks, {}));
    const auto connections = proxy.connections_ever();
    copy(server, stale);
    for (int i = 0; i < 3; ++i) {
        const auto next = token_once(locks, {});
        EXPECT_GT(next, newest);
        newest = next;
    }
    EXPECT_EQ(proxy.connections_ever(), connections) << "the connection was to stay";
}

// The counter alone goes back, as RESTORE can make it; in every mode, and from one to the next.
TEST_F(DataBack, TokensGrowWhenTheirCounterIsRestored) {
    client locks = direct();
    pawl::fencing_token newest;
    std::string old;
    const std::vector<pawl::lock_options> modes{
        {}, {.mode = pawl::lock_mode::shared}, {.mode = pawl::lock_mode::permits, .of = 2}};
    for (const auto& options : modes) {
        newest = std::max(newest, token_once(locks, options));
        old = server.ask({"DUMP", counter}).text;
        newest = std::max(newest, token_once(locks, options));
        ASSERT_EQ(server.ask({"RESTORE", counter, "0", old, "REPLACE"}).text, "OK");
        const auto next = token_once(locks, options);
        EXPECT_GT(next, newest);
        newest = next;
    }
}

// Lua's numbers end at 2^53, the counter's do not.
TEST_F(DataBack, ACounterAboveWhatLuaCountsGrowsByOne) {
    client locks = direct();
    ASSERT_EQ(server.ask({"SET", counter, "9007199254740993"}).text, "OK");
    for (std::uint64_t i = 1; i < 4; ++i)
        EXPECT_EQ(token_once(locks, {}).value(), 9007199254740993U + i);
    ASSERT_EQ(server.ask({"SET", counter, "9223372036854775807"}).text, "OK");
    const auto what = failure_of([&] { (void)token_once(locks, {}); });
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::wrong_type) << what;
}

// Tokens of objects that Java does not count are Pawl's alone, in Redisson's layout too.
TEST_F(DataBack, RedissonsCounterGoesBackAndPawlsTokensDoNot) {
    const std::vector<std::pair<std::string, pawl::lock_options>> objects{
        {"?layout=redisson", {.mode = pawl::lock_mode::permits, .of = 2}},
        {"?layout=redisson&object=semaphore", {.mode = pawl::lock_mode::permits, .of = 2}},
        {"?layout=redisson&object=readwrite", {}},
        {"?layout=redisson&object=readwrite", {.mode = pawl::lock_mode::shared}}};
    for (const auto& [url, options] : objects) {
        (void)server.ask({"FLUSHALL"});
        client locks = direct(url);
        auto newest = token_once(locks, options);
        const auto old = server.ask({"GET", "redisson_lock_token:{it}"}).text;
        newest = token_once(locks, options);
        ASSERT_EQ(server.ask({"SET", "redisson_lock_token:{it}", old}).text, "OK");
        EXPECT_GT(token_once(locks, options), newest) << url;
        EXPECT_EQ(server.ask({"PTTL", "redisson_lock_token:{it}"}).number(), -1) << url;
    }
}

// A counter is kept for as long as the URL says after the last hold, and its end costs nothing.
TEST_F(DataBack, ACounterIsKeptForAsLongAsTheUrlSays) {
    client usual = direct(), brief = direct("?token_retention_ms=1000");
    const auto kept = [this] { return server.ask({"PTTL", counter}).number(); };
    auto newest = token_once(usual, {});
    EXPECT_GT(kept(), 86'000'000);
    newest = token_once(brief, {});
    EXPECT_LE(kept(), 1000);
    ASSERT_TRUE(eventually([&] { return server.ask({"EXISTS", counter}).number() == 0; }));
    EXPECT_GT(token_once(brief, {}), newest);
}

}  // namespace
