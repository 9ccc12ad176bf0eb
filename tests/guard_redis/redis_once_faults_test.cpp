// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A server that loses its data under `once`, and effects that no server can run.
#include "redis_fixture.hpp"

#include <pawl/guard/redis_once.hpp>

#include <stdexcept>

namespace {

using namespace guard_tests;
using namespace pawl::guard;
using pawl::errc;

class RedisOnceFaults : public redis_test {
protected:
    std::string field(const std::string& name) {
        return server.execute({"HGET", "pawl-once::{all}:k", name}).text;
    }
};

// Interleaving: the record is ended first, then the effect is called with more words than Lua's
// stack has places for. The operation would have failed for good, and nothing was tried.
TEST_F(RedisOnceFaults, RefusesAnEffectWithMoreWordsThanLuaHasPlacesFor) {
    const redis_effect push("return redis.call('RPUSH', KEYS[1], unpack(ARGV))", 1);
    const redis_once_work work = [&](const attempt&) {
        return push({"n"}, std::vector<script_argument>(8000, 1));
    };
    EXPECT_EQ(code_of([&] { (void)once(connection, "k", patient, work); }, "7000"),
              errc::bad_option);
    EXPECT_EQ(field("state"), "1");
    const redis_once_work shorter = [&](const attempt&) {
        return push({"n"}, std::vector<script_argument>(7000, 1));
    };
    EXPECT_EQ(once(connection, "k", patient, shorter).state, once_state::done);
}

// Interleaving: the effect outside has happened, and the server loses its data. The same call must
// not have the effect again, as if it were the first attempt.
TEST_F(RedisOnceFaults, DoesNotRepeatAnEffectWhoseRecordWasLost) {
    int works = 0;
    const once_work pay = [&](const attempt&) -> outcome {
        if (++works > 2) throw std::logic_error("the work is repeated for ever");
        (void)server.execute({"FLUSHALL"});
        return "paid";
    };
    EXPECT_EQ(code_of([&] { (void)at_least_once(connection, "k", patient, pay); }), errc::lost);
    EXPECT_EQ(works, 1);
}

}  // namespace
