// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A reachable server that refuses writes: too few replicas, a failing disk, no memory, a long
// script. A waiter outlasts this and sends fewer and fewer requests; no leftover of a refused
// attempt releases a lock afterwards.
#include "redis_fixture.hpp"

#include <redis_scripts.hpp>
#include <redisson_scripts.hpp>

#include <filesystem>

namespace {

using namespace chaos;
namespace scripts = pawl::redis::scripts;

struct fault_case {
    const char* name;
    const char* error_text;  // of the server's reply
    void (*start_fault)(support::redis_server&);
    void (*end_fault)(support::redis_server&);
};

void configure(support::redis_server& server, const std::string& setting,
               const std::string& value) {
    ASSERT_EQ(server.execute({"CONFIG", "SET", setting, value}).text, "OK") << setting;
}

bool last_save_failed(support::redis_server& server) {
    const auto status = server.execute({"INFO", "persistence"}).text;
    return status.find("rdb_last_bgsave_status:err") != std::string::npos;
}

// A folder in the place of the file.
void fail_to_save(support::redis_server& server) {
    std::filesystem::create_directories(server.folder().file("dump.rdb/in-the-way"));
    configure(server, "save", "3600 1000000");
    (void)server.execute({"BGSAVE"});
    ASSERT_TRUE(eventually([&] { return last_save_failed(server); }));
}

void allow_saving(support::redis_server& server) {
    configure(server, "save", "");
    configure(server, "stop-writes-on-bgsave-error", "no");
}

const fault_case troubles[] = {
    {"NOREPLICAS", "NOREPLICAS",
     [](auto& server) { configure(server, "min-replicas-to-write", "1"); },
     [](auto& server) { configure(server, "min-replicas-to-write", "0"); }},
    {"MISCONF", "MISCONF", fail_to_save, allow_saving},
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

class Refusal : public testing::TestWithParam<std::tuple<fault_case, layout>>,
                protected redis_fixture {
protected:
    [[nodiscard]] static const fault_case& tested_fault() { return std::get<0>(GetParam()); }
    [[nodiscard]] static const layout& variant() { return std::get<1>(GetParam()); }
    [[nodiscard]] std::string key() const {
        return std::string(variant().url).empty() ? "pawl:{it}" : "it";
    }
};

//   A waits and is refused again and again; then the server accepts, and A holds. Two renewals
//   later it still holds: none of A's attempts was undone, because the server's refusal says that
//   it did nothing.
TEST_P(Refusal, LeavesNothingBehindThatGivesTheLockAway) {
    client locks = proxied_client(variant().url);
    (void)locks.acquire("warm", {.ttl = 2s, .wait = patience}).release();
    ASSERT_TRUE(eventually([&] { return server.execute({"EXISTS", "warm"}).number() == 0; }));
    const auto undos = proxy.count(script(variant().undo));
    const auto attempts = proxy.count(script(variant().acquire));
    tested_fault().start_fault(server);
    if (HasFatalFailure()) return;
    held_lock lock;
    background_task waiter([&] {
        (void)failure_of([&] { lock = locks.acquire("it", {.ttl = 2s, .wait = patience}); });
    });
    EXPECT_TRUE(eventually([&] { return proxy.count(script(variant().acquire)) >= attempts + 5; }));
    tested_fault().end_fault(server);
    waiter.join();
    ASSERT_TRUE(lock) << client_log.text();
    EXPECT_NE(client_log.text().find(tested_fault().error_text), std::string::npos)
        << client_log.text();
    for (int renewals = 0; renewals < 2; ++renewals) {
        const auto before = lock.safe_until();
        ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; }));
    }
    EXPECT_EQ(server.execute({"EXISTS", key()}).number(), 1);
    EXPECT_EQ(lock.state(), lock_state::held);
    EXPECT_EQ(proxy.count(script(variant().undo)), undos);
    EXPECT_EQ(lock.release(), release_result::released);
}

// A try fails at once with the server's error, and undoes nothing.
TEST_P(Refusal, IsToldToATry) {
    client locks = proxied_client(variant().url);
    (void)locks.acquire("warm", {.ttl = 2s, .wait = patience}).release();
    const auto undos = proxy.count(script(variant().undo));
    tested_fault().start_fault(server);
    if (HasFatalFailure()) return;
    const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
    tested_fault().end_fault(server);
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unavailable) << failed;
    EXPECT_NE(failed->sentence.find(tested_fault().error_text), std::string::npos) << failed;
    EXPECT_EQ(proxy.count(script(variant().undo)), undos);
    EXPECT_TRUE(locks.try_acquire("it", {.ttl = 2s}).owns_lock());
}

INSTANTIATE_TEST_SUITE_P(By, Refusal,
                         testing::Combine(testing::ValuesIn(troubles), testing::ValuesIn(layouts)),
                         [](const auto& parameter) {
                             return std::string(std::get<0>(parameter.param).name) + "_" +
                                    std::get<1>(parameter.param).name;
                         });

// The reply of A's request is lost while the server does not refuse yet. Its undo is refused, and
// is sent until the server accepts it. A's next attempt has another owner and is not undone.
TEST(RefusalOfAnUndo, IsOutlivedByTheUndo) {
    redis_fixture at;
    client locks = at.proxied_client(), other = at.direct_client();
    (void)locks.acquire("warm", {.ttl = long_ttl, .wait = patience}).release();
    at.proxy.inject(
        {.matches = redis_fixture::script(scripts::acquire), .kind = fault_kind::lose_reply});
    at.proxy.inject({.matches = redis_fixture::script(scripts::leave),
                     .kind = fault_kind::reply,
                     .reply = "-NOREPLICAS Not enough good replicas to write.\r\n",
                     .times = 4});
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_EQ(lock.state(), lock_state::held);
    EXPECT_TRUE(
        eventually([&] { return at.proxy.count(redis_fixture::script(scripts::leave)) >= 7; }));
    EXPECT_FALSE(other.try_acquire("it", {.ttl = long_ttl}).owns_lock());
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(at.becomes_clean());
}

constexpr const char* no_right = "-NOPERM this user has no permissions to run 'evalsha'\r\n";

// A permission is revoked before the undo arrives, and restored: the undo is not forgotten.
TEST(RefusalOfAnUndo, ForWantOfARightIsOutlivedByTheUndo) {
    redis_fixture at;
    client locks = at.proxied_client();
    (void)locks.acquire("warm", {.ttl = long_ttl, .wait = patience}).release();
    at.proxy.inject(
        {.matches = redis_fixture::script(scripts::acquire), .kind = fault_kind::lose_reply});
    at.proxy.inject({.matches = redis_fixture::script(scripts::leave),
                     .kind = fault_kind::reply,
                     .reply = no_right,
                     .times = 3});
    const auto failed = at.failure_of([&] { (void)locks.try_acquire("it", {.ttl = long_ttl}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unreachable) << failed;
    EXPECT_TRUE(at.becomes_clean());
    EXPECT_GE(at.proxy.count(redis_fixture::script(scripts::leave)), 4);
}

// The permission is not restored: a closing client tries once more, logs that, and closes long
// before the drain time is over.
TEST(RefusalOfAnUndo, ForWantOfARightDoesNotKeepAClientThatCloses) {
    redis_fixture at;
    {
        pawl::client_options options;
        options.drain = 1h;
        options.log = [&](std::string_view line) { at.client_log.write(line); };
        client locks(pawl::redis::at(at.proxy.url()), options);
        (void)locks.acquire("warm", {.ttl = long_ttl, .wait = patience}).release();
        at.proxy.inject(
            {.matches = redis_fixture::script(scripts::acquire), .kind = fault_kind::lose_reply});
        at.proxy.inject({.matches = redis_fixture::script(scripts::leave),
                         .kind = fault_kind::reply,
                         .reply = no_right,
                         .times = 1000});
        const auto failed = at.failure_of([&] { (void)locks.try_acquire("it", {.ttl = 10h}); });
        ASSERT_TRUE(failed.has_value());
        ASSERT_TRUE(
            eventually([&] { return at.proxy.count(redis_fixture::script(scripts::leave)) > 0; }));
    }
    const auto client_log = at.client_log.text();
    EXPECT_NE(client_log.find("cannot be undone"), std::string::npos) << client_log;
    EXPECT_NE(client_log.find("NOPERM"), std::string::npos) << client_log;
}

}  // namespace
