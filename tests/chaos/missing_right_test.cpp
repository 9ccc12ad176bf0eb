// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Users whose rights are those of no feature: an operation is refused and changes nothing, or has
// its full effect.
#include "rights.hpp"

#include <pawl/blocking/latch.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace {

using namespace chaos;
using pawl::lock_mode;

constexpr pawl::try_options try_shared{.ttl = long_ttl, .mode = lock_mode::shared};
constexpr pawl::try_options try_permits{
    .ttl = long_ttl, .mode = lock_mode::permits, .permits = 1, .total_permits = 2};

struct operation {
    const char* name;
    held_lock (*prepare)(client& others);  // with all rights
    void (*act)(client& locks);
};

held_lock prepare_nothing(client&) { return {}; }
held_lock hold(client& locks) { return locks.acquire("it", {.ttl = long_ttl}); }
held_lock share(client& locks) { return locks.try_acquire("it", try_shared); }
held_lock set_latch(client& locks) {
    pawl::blocking::latch done(locks, "it");
    (void)done.try_set(1);
    return {};
}
void acquire_shared(client& locks) { (void)locks.try_acquire("it", try_shared); }
void acquire_permits(client& locks) { (void)locks.try_acquire("it", try_permits); }
void force(client& locks) { (void)locks.force_release("it"); }

constexpr std::array operations{
    operation{"shared", prepare_nothing, acquire_shared},
    operation{"second shared", share, acquire_shared},
    operation{"permits", prepare_nothing, acquire_permits},
    operation{"batch", prepare_nothing,
              [](client& locks) {
                  (void)locks.acquire_all({"it", "b"}, {.ttl = long_ttl});
              }},
    operation{"force", hold, force},
    operation{"force shared", share, force},
    operation{"latch set", prepare_nothing, [](client& locks) { (void)set_latch(locks); }},
    operation{"latch down", set_latch,
              [](client& locks) { pawl::blocking::latch(locks, "it").count_down(); }},
    operation{"latch reset", set_latch,
              [](client& locks) { (void)pawl::blocking::latch(locks, "it").reset(); }},
};

class MissingRight : public testing::Test, protected least_rights {
protected:
    // The content of every key but the counters of tokens, and totals of permits without holders.
    [[nodiscard]] std::map<std::string, std::string> contents() {
        std::map<std::string, std::string> result;
        for (const auto& key : leftovers()) {
            const bool is_total = key.ends_with(":d") &&
                                  server.execute({"HLEN", key}).number() == 1 &&
                                  server.execute({"HEXISTS", key, "n"}).number() == 1;
            if (!is_total) result[key] = server.execute({"DUMP", key}).text;
        }
        return result;
    }
    void expect_all_or_nothing(const operation& tried) {
        (void)server.execute({"FLUSHALL"});
        client others = direct_client(), locks = user_client();
        const auto theirs = tried.prepare(others);
        const auto before = contents();
        const auto failed = failure_of([&] { tried.act(locks); });
        if (!failed) return;
        EXPECT_EQ(failed->reason, errc::refused) << tried.name << ": " << failed;
        EXPECT_TRUE(eventually([&] { return contents() == before; })) << tried.name;
    }
};

TEST_F(MissingRight, OfOneCommandLeavesNothingBehind) {
    allow({});
    const auto commands = allowed("+");
    // Without these, there is no connection, or no script.
    const support::command_words needed{"+select", "+ping", "+info", "+time", "+eval", "+evalsha"};
    for (const auto& command : commands) {
        if (std::ranges::count(needed, command) > 0) continue;
        allow_without(command);
        SCOPED_TRACE(command);
        for (const auto& each : operations)
            expect_all_or_nothing(each);
    }
}

// The rights for exclusive locks with a category of commands beside them.
TEST_F(MissingRight, OfOtherModesLeavesNothingBehind) {
    for (const std::string category :
         {"+@read", "+@write", "+@hash", "+@sortedset", "+@keyspace"}) {
        allow({.modes = false, .latches = false, .admin = false});
        (void)server.execute({"ACL", "SETUSER", "locks", category});
        SCOPED_TRACE(category);
        for (const auto& each : operations)
            expect_all_or_nothing(each);
        client locks = user_client();
        EXPECT_TRUE(locks.try_acquire("exclusive").owns_lock());
    }
}

}  // namespace
