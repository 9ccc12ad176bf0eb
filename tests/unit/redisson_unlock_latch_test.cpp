// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The key in which Redisson's layout keeps the result of a release for a repeated request.
#include <redis/common/backends.hpp>
#include <redis/topology/single_server.hpp>

#include <pawl/redis.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace pawl::redis {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

using request = std::vector<std::string>;

// Records every request, and loses its reply.
class recording_link final : public link {
public:
    explicit recording_link(std::vector<request>& requests) : requests_(requests) {}

    asio::awaitable<reply> exec(std::span<const std::string_view> words, time_point,
                                prelude) override {
        requests_.emplace_back(words.begin(), words.end());
        throw connection_lost("the connection was closed");
        co_return reply();
    }
    const session& current() const noexcept override { return session_; }
    bool connected() const noexcept override { return true; }
    asio::awaitable<void> close(time_point) override { co_return; }

private:
    std::vector<request>& requests_;
    session session_;
};

// The attempts of a release may last 50 ms, and longer if the client has no processor, also with
// timeouts of some milliseconds.
TEST(UnlockLatch, OutlivesTheAttemptsOfARelease) {
    asio::io_context loop;
    backend_context context;
    context.strand = asio::make_strand(loop);
    context.time = &real_runtime();
    std::vector<request> requests;
    const auto connect = single_server_factory([&](link::listener&, const std::string&) {
        return std::make_unique<recording_link>(requests);
    });
    options redis_options;
    redis_options.reply_timeout = redis_options.connect_timeout = 5ms;
    const auto created = redisson::make_backend(redis_options, context, connect, limits());
    hold own_hold;
    own_hold.claim.name = "it";
    own_hold.claim.owner = "0123456789abcdef0123456789abcdef";
    own_hold.claim.ttl = 10s;
    own_hold.grant.deadline = real_runtime().now() + 10s;
    own_hold.grant.stored_value = "0123456789abcdef0123456789abcdef:1";
    auto released = asio::co_spawn(context.strand, created->release(own_hold), asio::use_future);
    while (requests.empty() && loop.run_one() > 0) {}
    ASSERT_FALSE(requests.empty());
    const auto& release = requests.front();
    EXPECT_GE(std::stoi(release.back()), 1000) << "unlock_latch_ms, the last argument";
    auto closed =
        asio::co_spawn(context.strand, created->close(context.time->now()), asio::use_future);
    loop.run_for(30s);
    EXPECT_EQ(released.get(), release_result::unknown);
    closed.get();
}

}  // namespace
}  // namespace pawl::redis
