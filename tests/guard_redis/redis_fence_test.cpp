// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redis_fixture.hpp"

#include <pawl/guard/redis_fence.hpp>

namespace {

using namespace guard_tests;
using pawl::errc;
using pawl::fencing_token;
using pawl::guard::fenced;
using kind = pawl::guard::redis_reply::kind;

class RedisFence : public redis_test {
protected:
    bool write(std::uint64_t token, const std::string& value) {
        return fenced(connection, "price", fencing_token(token), {{"SET", "price", value}})
            .accepted;
    }
};

TEST_F(RedisFence, RefusesALateHolder) {
    EXPECT_TRUE(write(7, "a"));
    EXPECT_TRUE(write(7, "b")) << "a holder writes often";
    EXPECT_TRUE(write(9, "c"));
    const auto late = fenced(connection, "price", fencing_token(8), {{"SET", "price", "late"}});
    EXPECT_FALSE(late);
    EXPECT_EQ(late.newest, fencing_token(9));
    EXPECT_TRUE(late.replies.empty());
    EXPECT_EQ(stored("price"), "c");
    EXPECT_EQ(server.execute({"PTTL", "{price}:fence"}).number(), -1);
}

// A fence in the data would forget its token with them.
TEST_F(RedisFence, OutlivesTheData) {
    EXPECT_TRUE(write(9, "a"));
    (void)server.execute({"DEL", "price"});
    EXPECT_FALSE(write(8, "late"));
}

TEST_F(RedisFence, ComparesAll63Bits) {
    const std::uint64_t large = (std::uint64_t{1} << 62) + 1;
    EXPECT_TRUE(write(large, "a"));
    EXPECT_FALSE(write(large - 1, "late")) << "equal as doubles";
    EXPECT_FALSE(write(999, "late")) << "larger as text";
    EXPECT_TRUE(write(large + 1, "b"));
    EXPECT_EQ(stored("{price}:fence"), std::to_string(large + 1));
}

TEST_F(RedisFence, ReturnsTheReplyToEachCommand) {
    (void)server.execute({"DEL", "x"});
    const auto result = fenced(connection, "{x}", fencing_token(1),
                               {{"SET", "{x}:a", "5"},
                                {"INCR", "{x}:a"},
                                {"GET", "{x}:none"},
                                {"LRANGE", "{x}:none", "0", "-1"}});
    ASSERT_EQ(result.replies.size(), 4U);
    EXPECT_EQ(result.replies[0].text, "OK");
    EXPECT_EQ(result.replies[1].integer, 6);
    EXPECT_EQ(result.replies[2].type, kind::nil);
    EXPECT_EQ(result.replies[3].type, kind::array);
}

TEST_F(RedisFence, StopsAtACommandThatFails) {
    const auto result = fenced(connection, "price", fencing_token(1),
                               {{"SET", "price", "text"}, {"INCR", "price"}, {"DEL", "price"}});
    EXPECT_TRUE(result);
    ASSERT_EQ(result.replies.size(), 2U);
    EXPECT_EQ(result.replies[1].type, kind::error);
    EXPECT_NE(result.replies[1].text.find("not an integer"), std::string::npos);
    EXPECT_EQ(stored("price"), "text") << "a script is not rolled back";
}

TEST_F(RedisFence, DoesNotMixAResourceWithOneInBraces) {
    ASSERT_TRUE(fenced(connection, "price", fencing_token(9), {{"SET", "price", "a"}}));
    EXPECT_TRUE(fenced(connection, "{price}", fencing_token(1), {{"SET", "{price}", "b"}}));
    EXPECT_EQ(stored("{price}"), "b");
}

TEST_F(RedisFence, RefusesWrongArguments) {
    EXPECT_EQ(code_of([&] { (void)write(0, "a"); }, "token is 0"), errc::bad_option);
    EXPECT_EQ(code_of([&] { (void)write(std::uint64_t{1} << 63, "a"); }), errc::bad_option);
    EXPECT_EQ(code_of([&] { (void)fenced(connection, "p", fencing_token(1), {{}}); }),
              errc::bad_option);
    EXPECT_EQ(code_of([&] { (void)fenced(connection, "", fencing_token(1), {}); }), errc::bad_name);
    EXPECT_TRUE(connection.sent.empty());
    (void)server.execute({"SET", "{price}:fence", "no token"});
    EXPECT_EQ(code_of([&] { (void)write(5, "a"); }, "{price}:fence"), errc::wrong_type);
    EXPECT_EQ(server.keys().size(), 1U);
}

// The interleaving: an old holder reads the fence, and accepts itself. The new holder writes. The
// old holder sends its transaction, which nothing refuses. One script leaves no such gap.
TEST_F(RedisFence, NeedsItsVerdictAndTheWriteInOneStep) {
    resp_connection old_holder(server);
    const auto run = [](resp_connection& holder, const pawl::guard::redis_command& command) {
        return holder.execute(command);
    };
    const auto seen = run(old_holder, {"GET", "{price}:fence"});
    EXPECT_EQ(seen.type, kind::nil);
    ASSERT_TRUE(write(2, "new"));
    (void)run(old_holder, {"MULTI"});
    (void)run(old_holder, {"SET", "{price}:fence", "1"});
    (void)run(old_holder, {"SET", "price", "stale"});
    (void)run(old_holder, {"EXEC"});
    EXPECT_EQ(stored("price"), "stale") << "the wrong way does no damage, so it shows nothing";
    std::printf("GET, then MULTI: 1 stale write of 1\n");
    ASSERT_TRUE(write(2, "new"));
    EXPECT_FALSE(fenced(old_holder, "price", fencing_token(1), {{"SET", "price", "stale"}}));
    EXPECT_EQ(stored("price"), "new");
}

TEST(RedisFenceInACluster, NeedsTheHashTagOfItsResource) {
    support::redis_server server({.cluster = true});
    server.serve_all_slots();
    resp_connection connection(server);
    EXPECT_TRUE(fenced(connection, "price", fencing_token(1), {{"SET", "price", "a"}}));
    EXPECT_TRUE(fenced(connection, "{price}", fencing_token(1), {{"SET", "{price}:eur", "a"}}));
}

}  // namespace
