// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redis_fixture.hpp"

#include <pawl/guard/counters.hpp>
#include <pawl/guard/hiredis.hpp>
#include <pawl/guard/script.hpp>

#include <csignal>

namespace {

using namespace guard_tests;
using pawl::guard::redis_reply;

struct free_context {
    void operator()(redisContext* context) const { redisFree(context); }
};

class Hiredis : public redis_test {
protected:
    Hiredis() { std::signal(SIGPIPE, SIG_IGN); }

    std::unique_ptr<redisContext, free_context> context{
        redisConnectUnix(server.unix_socket().c_str())};
    pawl::guard::hiredis_connection view{*context};
};

TEST_F(Hiredis, ConvertsEachReply) {
    const std::string bytes("a\0b", 3);
    EXPECT_EQ(view.execute({"SET", "k", bytes}).text, "OK");
    EXPECT_EQ(view.execute({"GET", "k"}).text, bytes);
    EXPECT_EQ(view.execute({"GET", "none"}).type, redis_reply::kind::nil);
    EXPECT_EQ(view.execute({"INCR", "n"}).integer, 1);
    EXPECT_EQ(view.execute({"INCR", "k"}).type, redis_reply::kind::error);
    const auto nested = view.execute({"EVAL", "return {1, {'a', {}}, false}", "0"});
    ASSERT_EQ(nested.items.size(), 3U);
    EXPECT_EQ(nested.items[1].items.at(0).text, "a");
    EXPECT_EQ(nested.items[1].items.at(1).type, redis_reply::kind::array);
    EXPECT_EQ(nested.items[2].type, redis_reply::kind::nil);
}

TEST_F(Hiredis, CarriesCountersAndScripts) {
    pawl::guard::counters stock(view);
    ASSERT_TRUE(stock.create("stock", 2));
    EXPECT_EQ(stock.subtract("stock", 2, {}, "id"), 0);
    EXPECT_EQ(pawl::guard::script<std::string>("return KEYS[1]", 1).run(view, {"a"}), "a");
}

TEST_F(Hiredis, SaysThatNoAnswerCame) {
    server.kill9();
    EXPECT_EQ(code_of([&] { (void)view.execute({"PING"}); }, "may have executed"),
              pawl::errc::unreachable);
    EXPECT_EQ(code_of([&] { (void)view.execute({"PING"}); }), pawl::errc::unreachable);
}

}  // namespace
