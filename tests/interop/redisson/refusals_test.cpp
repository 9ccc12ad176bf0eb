// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Keys under a lock's name that are not that lock: each side reports it at once, in one sentence,
// and leaves the key unchanged. mixed_processes.hpp says which object a name is.
#include "mixed_processes.hpp"

#include <pawl/error.hpp>
#include <pawl/redis.hpp>

#include <gtest/gtest.h>

namespace {

using namespace interop;

void expect_sentence(const std::string& reply, const std::string& word) {
    EXPECT_TRUE(reply.starts_with("failed")) << reply;
    EXPECT_NE(reply.find(word), std::string::npos) << reply;
}

//   P holds "string" in its native layout, key={name}: SET NX | J's EXISTS: held, its HEXISTS:
//   WRONGTYPE | P in Redisson's layout: HLEN, WRONGTYPE
TEST(Refusals, OfALockInPawlsOwnLayout) {
    mixed_processes processes;
    test_process java = processes.java(), pawl = processes.pawl();
    pawl::blocking::client native(pawl::from_url(processes.server().url("?key={name}")));
    auto lock = native.acquire("string", {.ttl = 60s});
    for (const std::string command : {"try string", "lock string"}) {
        expect_sentence(pawl.execute(command), "leave out layout=redisson");
        expect_sentence(java.execute(command), "WRONGTYPE");
    }
    EXPECT_EQ(lock.release(), pawl::release_result::released);
    EXPECT_EQ(java.execute("try string"), "held");
}

//   J holds a hash | P in its native layout: GET, WRONGTYPE
TEST(Refusals, OfALockInRedissonsLayout) {
    mixed_processes processes;
    test_process java = processes.java();
    pawl::blocking::client native(pawl::from_url(processes.server().url("?key={name}")));
    for (const std::string name : {"it", "fenced", "fair", "read:rw", "write:writer"}) {
        ASSERT_TRUE(java.execute("lock " + name).starts_with("held"));
        const auto key = name.substr(name.find(':') + 1);
        try {
            (void)native.try_acquire(key);
            FAIL() << name << " was acquired";
        } catch (const pawl::error& e) {
            EXPECT_EQ(e.reason(), pawl::errc::wrong_type) << e.what();
            EXPECT_NE(std::string(e.what()).find("set layout=redisson"), std::string::npos)
                << e.what();
        }
        ASSERT_TRUE(java.execute("unlock " + name).starts_with("unlocked")) << "it was changed";
    }
}

// One name as two objects of Redisson's: they do not exclude each other in Java. Pawl reports this
// instead of waiting for a release that another object would announce.
TEST(Refusals, OfAnotherObject) {
    mixed_processes processes;
    test_process java = processes.java(), pawl = processes.pawl();
    ASSERT_TRUE(java.execute("lock it").starts_with("held"));
    expect_sentence(pawl.execute("lock write:it"), "leave out object=readwrite");
    expect_sentence(pawl.execute("lock read:it"), "leave out object=readwrite");
    ASSERT_TRUE(java.execute("unlock it").starts_with("unlocked"));
    ASSERT_TRUE(java.execute("lock read:it").starts_with("held"));
    expect_sentence(pawl.execute("lock it"), "add object=readwrite");
    ASSERT_TRUE(java.execute("unlock read:it").starts_with("unlocked"));
    ASSERT_TRUE(java.execute("lock permits 1").starts_with("held"));
    ASSERT_TRUE(java.execute("lock it").starts_with("held"));
    pawl::blocking::client locks(pawl::from_url(processes.server().url("?layout=redisson")));
    for (const auto& [name, mode] : {std::pair("permits", pawl::lock_mode::exclusive),
                                     std::pair("it", pawl::lock_mode::permits)}) {
        try {
            const auto total = mode == pawl::lock_mode::permits ? 3U : 0U;
            (void)locks.try_acquire(name, {.mode = mode, .permits = 1, .total_permits = total});
            ADD_FAILURE() << name << " was acquired";
        } catch (const pawl::error& e) {
            EXPECT_EQ(e.reason(), pawl::errc::wrong_type) << e.what();
        }
    }
    EXPECT_TRUE(java.execute("unlock permits").starts_with("unlocked"));
    EXPECT_TRUE(java.execute("unlock it").starts_with("unlocked"));
}

// The counter of the tokens holds another type: after the error, the lock is not held.
TEST(Refusals, OfATokenKeyOfAnotherType) {
    mixed_processes processes;
    test_process java = processes.java(), pawl = processes.pawl();
    const std::string counter = "redisson_lock_token:{fenced}";
    (void)processes.server().execute({"RPUSH", counter, "theirs"});
    expect_sentence(java.execute("lock fenced"), "WRONGTYPE");
    expect_sentence(pawl.execute("lock fenced"), counter + ": the counter of the tokens");
    EXPECT_EQ(processes.server().keys(), std::vector<std::string>{counter});
    (void)processes.server().execute({"DEL", counter});
    EXPECT_TRUE(pawl.execute("lock fenced").starts_with("held 1 "));
}

}  // namespace
