// What stands under a lock's key and is not that lock: each side says so at once, in one sentence,
// and leaves it as it was.
#include "both.hpp"

#include <pawl/error.hpp>
#include <pawl/redis.hpp>

#include <gtest/gtest.h>

namespace {

using namespace interop;

void expect_a_sentence(const std::string& answer, const std::string& word) {
    EXPECT_TRUE(answer.starts_with("failed")) << answer;
    EXPECT_NE(answer.find(word), std::string::npos) << answer;
}

//   P holds "string" in its native layout, key={name}: SET NX | J's EXISTS says held, its HEXISTS
//   WRONGTYPE | P in Redisson's layout: HLEN, WRONGTYPE
TEST(Refusals, OfALockInPawlsOwnLayout) {
    both world;
    side java = world.java(), pawl = world.pawl();
    pawl::blocking::client native(pawl::from_url(world.server().url("?key={name}")));
    auto lock = native.acquire("string", {.ttl = 60s});
    for (const std::string name : {"try string", "lock string"}) {
        expect_a_sentence(pawl.ask(name), "leave out layout=redisson");
        expect_a_sentence(java.ask(name), "WRONGTYPE");
    }
    EXPECT_EQ(lock.release(), pawl::release_result::released);
    EXPECT_EQ(java.ask("try string"), "held");
}

//   J holds a hash | P in its native layout: GET, WRONGTYPE
TEST(Refusals, OfALockInRedissonsLayout) {
    both world;
    side java = world.java();
    pawl::blocking::client native(pawl::from_url(world.server().url("?key={name}")));
    for (const std::string name : {"it", "fenced", "fair", "read:rw", "write:writer"}) {
        ASSERT_TRUE(java.ask("lock " + name).starts_with("held"));
        const auto key = name.substr(name.find(':') + 1);
        try {
            (void)native.try_acquire(key);
            FAIL() << name << " was taken";
        } catch (const pawl::error& e) {
            EXPECT_EQ(e.reason(), pawl::errc::wrong_type) << e.what();
            EXPECT_NE(std::string(e.what()).find("set layout=redisson"), std::string::npos)
                << e.what();
        }
        ASSERT_TRUE(java.ask("unlock " + name).starts_with("unlocked")) << "it was changed";
    }
}

// One name as two objects of Redisson's: they do not exclude each other in Java, which Pawl says
// instead of waiting for what is freed in another way.
TEST(Refusals, OfAnotherObject) {
    both world;
    side java = world.java(), pawl = world.pawl();
    ASSERT_TRUE(java.ask("lock it").starts_with("held"));
    expect_a_sentence(pawl.ask("lock write:it"), "leave out object=readwrite");
    expect_a_sentence(pawl.ask("lock read:it"), "leave out object=readwrite");
    ASSERT_TRUE(java.ask("unlock it").starts_with("unlocked"));
    ASSERT_TRUE(java.ask("lock read:it").starts_with("held"));
    expect_a_sentence(pawl.ask("lock it"), "add object=readwrite");
    ASSERT_TRUE(java.ask("unlock read:it").starts_with("unlocked"));
    ASSERT_TRUE(java.ask("lock permits 1").starts_with("held"));
    ASSERT_TRUE(java.ask("lock it").starts_with("held"));
    pawl::blocking::client locks(pawl::from_url(world.server().url("?layout=redisson")));
    for (const auto& [name, mode] : {std::pair("permits", pawl::lock_mode::exclusive),
                                     std::pair("it", pawl::lock_mode::permits)}) {
        try {
            const auto of = mode == pawl::lock_mode::permits ? 3U : 0U;
            (void)locks.try_acquire(name, {.mode = mode, .permits = 1, .of = of});
            ADD_FAILURE() << name << " was taken";
        } catch (const pawl::error& e) {
            EXPECT_EQ(e.reason(), pawl::errc::wrong_type) << e.what();
        }
    }
    EXPECT_TRUE(java.ask("unlock permits").starts_with("unlocked"));
    EXPECT_TRUE(java.ask("unlock it").starts_with("unlocked"));
}

// The counter of the tokens holds something else: nobody has the lock after the error.
TEST(Refusals, OfATokenKeyOfAnotherType) {
    both world;
    side java = world.java(), pawl = world.pawl();
    const std::string counter = "redisson_lock_token:{fenced}";
    (void)world.server().ask({"RPUSH", counter, "theirs"});
    expect_a_sentence(java.ask("lock fenced"), "WRONGTYPE");
    expect_a_sentence(pawl.ask("lock fenced"), counter + ": the counter of the tokens");
    EXPECT_EQ(world.server().keys(), std::vector<std::string>{counter});
    (void)world.server().ask({"DEL", counter});
    EXPECT_TRUE(pawl.ask("lock fenced").starts_with("held 1 "));
}

}  // namespace
