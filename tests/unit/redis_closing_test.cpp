// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A client closes while the server refuses its releases: closing takes no longer than the drain
// time, whatever the pauses between the attempts are.
#include <redis/common/backends.hpp>
#include <redis/topology/single_server.hpp>

#include <pawl/error.hpp>
#include <pawl/redis.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>

namespace pawl::redis {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Refuses every request, or loses it.
class useless_link final : public link {
public:
    explicit useless_link(bool loses) : loses_(loses) {}

    asio::awaitable<reply> exec(std::span<const std::string_view>, time_point, prelude) override {
        if (loses_) throw connection_lost("the connection was closed");
        reply result;
        result.type = reply::kind::error;
        result.text = "READONLY You can't write against a read only replica.";
        co_return result;
    }
    const session& current() const noexcept override { return session_; }
    bool connected() const noexcept override { return true; }
    asio::awaitable<void> close(time_point) override { co_return; }

private:
    const bool loses_;
    session session_;
};

class Closing : public ::testing::TestWithParam<std::tuple<bool, bool>> {};

//   A releases a lock | the server refuses it, or the reply is lost | A pauses before it repeats
//   the release, for an hour | A closes
TEST_P(Closing, EndsThePausesOfReleases) {
    const auto [redissons, loses] = GetParam();
    asio::io_context loop;
    backend_context context;
    context.strand = asio::make_strand(loop);
    context.time = &real_runtime();
    const auto connect = single_server_factory([lost = loses](link::listener&, const std::string&) {
        return std::make_unique<useless_link>(lost);
    });
    options redis_options;
    redis_options.reply_timeout = 2h;
    limits bounds;
    bounds.first_pause = bounds.longest_pause = 2h;
    const auto created = redissons ? redisson::make_backend(redis_options, context, connect, bounds)
                                   : native::make_backend(redis_options, context, connect, bounds);
    hold own_hold;
    own_hold.claim.name = "it";
    own_hold.claim.owner = "0123456789abcdef0123456789abcdef";
    own_hold.claim.ttl = 10h;
    own_hold.grant.deadline = real_runtime().now() + 10h;
    own_hold.grant.stored_value = "0123456789abcdef0123456789abcdef:1";
    auto released = asio::co_spawn(context.strand, created->release(own_hold), asio::use_future);
    loop.poll();
    auto closed =
        asio::co_spawn(context.strand, created->close(context.time->now()), asio::use_future);
    loop.run_for(30s);
    ASSERT_TRUE(loop.stopped()) << "it still pauses";
    closed.get();
    EXPECT_EQ(released.get(), release_result::unknown);
}

INSTANTIATE_TEST_SUITE_P(OfBothLayouts, Closing,
                         ::testing::Combine(::testing::Bool(), ::testing::Bool()));

}  // namespace
}  // namespace pawl::redis
