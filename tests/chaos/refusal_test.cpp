// A server that is there, and refuses what writes: too few replicas, a disk that fails, no memory,
// a long script. Whoever waits outlives it, asks less and less, and leaves nothing behind that
// gives a lock away afterwards.
#include "scene.hpp"

#include <redis_scripts.hpp>
#include <redisson_scripts.hpp>

#include <filesystem>

namespace {

using namespace chaos;
namespace scripts = pawl::redis::scripts;

struct trouble {
    const char* name;
    const char* words;  // of the server's answer
    void (*begin)(support::redis_server&);
    void (*end)(support::redis_server&);
};

void configure(support::redis_server& server, const std::string& what, const std::string& value) {
    ASSERT_EQ(server.ask({"CONFIG", "SET", what, value}).text, "OK") << what;
}

bool last_save_failed(support::redis_server& server) {
    const auto found = server.ask({"INFO", "persistence"}).text;
    return found.find("rdb_last_bgsave_status:err") != std::string::npos;
}

// Where the file would be, there is a folder.
void fail_to_save(support::redis_server& server) {
    std::filesystem::create_directories(server.folder().file("dump.rdb/in-the-way"));
    configure(server, "save", "3600 1000000");
    (void)server.ask({"BGSAVE"});
    ASSERT_TRUE(eventually([&] { return last_save_failed(server); }));
}

void let_it_be(support::redis_server& server) {
    configure(server, "save", "");
    configure(server, "stop-writes-on-bgsave-error", "no");
}

const trouble troubles[] = {
    {"NOREPLICAS", "NOREPLICAS",
     [](auto& server) { configure(server, "min-replicas-to-write", "1"); },
     [](auto& server) { configure(server, "min-replicas-to-write", "0"); }},
    {"MISCONF", "MISCONF", fail_to_save, let_it_be},
    {"OOM", "OOM", [](auto& server) { configure(server, "maxmemory", "1"); },
     [](auto& server) { configure(server, "maxmemory", "0"); }},
};

struct layout {
    const char* name;
    const char* url;
    const pawl::redis::script& acquire;
    const pawl::redis::script& undo;
};

const layout layouts[] = {
    {"native", "", scripts::acquire, scripts::leave},
    {"redisson", "?layout=redisson", pawl::redis::redisson::scripts::acquire,
     pawl::redis::redisson::scripts::release},
};

class Refusal : public testing::TestWithParam<std::tuple<trouble, layout>>, protected scene {
protected:
    [[nodiscard]] static const trouble& what() { return std::get<0>(GetParam()); }
    [[nodiscard]] static const layout& how() { return std::get<1>(GetParam()); }
    [[nodiscard]] std::string key() const {
        return std::string(how().url).empty() ? "pawl:{it}" : "it";
    }
};

//   A waits and is refused again and again; then the server accepts, and A holds. Two renewals
//   later it still does: none of A's attempts was undone, since the server itself says that it did
//   nothing.
TEST_P(Refusal, LeavesNothingBehindThatGivesTheLockAway) {
    client locks = proxied(how().url);
    (void)locks.acquire("warm", {.ttl = 2s, .wait = patience}).release();
    ASSERT_TRUE(eventually([&] { return server.ask({"EXISTS", "warm"}).number() == 0; }));
    const auto undos = proxy.count(script(how().undo));
    const auto attempts = proxy.count(script(how().acquire));
    what().begin(server);
    if (HasFatalFailure()) return;
    held_lock lock;
    beside waiter([&] {
        (void)failure_of([&] { lock = locks.acquire("it", {.ttl = 2s, .wait = patience}); });
    });
    EXPECT_TRUE(eventually([&] { return proxy.count(script(how().acquire)) >= attempts + 5; }));
    what().end(server);
    waiter.join();
    ASSERT_TRUE(lock) << notes.text();
    EXPECT_NE(notes.text().find(what().words), std::string::npos) << notes.text();
    for (int renewals = 0; renewals < 2; ++renewals) {
        const auto before = lock.safe_until();
        ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; }));
    }
    EXPECT_EQ(server.ask({"EXISTS", key()}).number(), 1);
    EXPECT_EQ(lock.state(), lock_state::held);
    EXPECT_EQ(proxy.count(script(how().undo)), undos);
    EXPECT_EQ(lock.release(), release_result::released);
}

// A try is told what the server said, at once, and undoes nothing.
TEST_P(Refusal, IsToldToATry) {
    client locks = proxied(how().url);
    (void)locks.acquire("warm", {.ttl = 2s, .wait = patience}).release();
    const auto undos = proxy.count(script(how().undo));
    what().begin(server);
    if (HasFatalFailure()) return;
    const auto found = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
    what().end(server);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->reason, errc::unavailable) << found;
    EXPECT_NE(found->sentence.find(what().words), std::string::npos) << found;
    EXPECT_EQ(proxy.count(script(how().undo)), undos);
    EXPECT_TRUE(locks.try_acquire("it", {.ttl = 2s}).owns_lock());
}

INSTANTIATE_TEST_SUITE_P(By, Refusal,
                         testing::Combine(testing::ValuesIn(troubles), testing::ValuesIn(layouts)),
                         [](const auto& of) {
                             return std::string(std::get<0>(of.param).name) + "_" +
                                    std::get<1>(of.param).name;
                         });

// The reply of A's request is lost while the server refuses nothing yet; its undo is refused, and
// is sent until the server accepts it. A's next attempt has another owner and is not undone.
TEST(RefusalOfAnUndo, IsOutlivedByTheUndo) {
    scene at;
    client locks = at.proxied(), other = at.direct();
    (void)locks.acquire("warm", {.ttl = long_ttl, .wait = patience}).release();
    at.proxy.inject({.which = scene::script(scripts::acquire), .what = fate::lose_reply});
    at.proxy.inject({.which = scene::script(scripts::leave),
                     .what = fate::answer,
                     .text = "-NOREPLICAS Not enough good replicas to write.\r\n",
                     .times = 4});
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_EQ(lock.state(), lock_state::held);
    EXPECT_TRUE(eventually([&] { return at.proxy.count(scene::script(scripts::leave)) >= 7; }));
    EXPECT_FALSE(other.try_acquire("it", {.ttl = long_ttl}).owns_lock());
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(at.clean());
}

constexpr const char* no_right = "-NOPERM this user has no permissions to run 'evalsha'\r\n";

// A right is taken away before the undo comes, and given back: the undo has not been forgotten.
TEST(RefusalOfAnUndo, ForWantOfARightIsOutlivedByTheUndo) {
    scene at;
    client locks = at.proxied();
    (void)locks.acquire("warm", {.ttl = long_ttl, .wait = patience}).release();
    at.proxy.inject({.which = scene::script(scripts::acquire), .what = fate::lose_reply});
    at.proxy.inject({.which = scene::script(scripts::leave),
                     .what = fate::answer,
                     .text = no_right,
                     .times = 3});
    const auto what = at.failure_of([&] { (void)locks.try_acquire("it", {.ttl = long_ttl}); });
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::unreachable) << what;
    EXPECT_TRUE(at.clean());
    EXPECT_GE(at.proxy.count(scene::script(scripts::leave)), 4);
}

// It does not come back: a client that closes asks once more, says so, and is not kept by it, long
// before the drain time is over.
TEST(RefusalOfAnUndo, ForWantOfARightDoesNotKeepAClientThatCloses) {
    scene at;
    {
        pawl::client_options options;
        options.drain = 1h;
        options.log = [&](std::string_view line) { at.notes.write(line); };
        client locks(pawl::redis::at(at.proxy.url()), options);
        (void)locks.acquire("warm", {.ttl = long_ttl, .wait = patience}).release();
        at.proxy.inject({.which = scene::script(scripts::acquire), .what = fate::lose_reply});
        at.proxy.inject({.which = scene::script(scripts::leave),
                         .what = fate::answer,
                         .text = no_right,
                         .times = 1000});
        const auto what = at.failure_of([&] { (void)locks.try_acquire("it", {.ttl = 10h}); });
        ASSERT_TRUE(what.has_value());
        ASSERT_TRUE(eventually([&] { return at.proxy.count(scene::script(scripts::leave)) > 0; }));
    }
    const auto notes = at.notes.text();
    EXPECT_NE(notes.find("cannot be undone"), std::string::npos) << notes;
    EXPECT_NE(notes.find("NOPERM"), std::string::npos) << notes;
}

}  // namespace
