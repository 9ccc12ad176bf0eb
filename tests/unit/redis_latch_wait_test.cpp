// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A wait for a latch at a server that refuses: its pauses are those of the client's limits.
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
#include <optional>
#include <string>

namespace pawl::redis {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

class loading_link final : public link {
public:
    explicit loading_link(int& refresh_count) : refresh_count_(refresh_count) {}

    asio::awaitable<reply> exec(std::span<const std::string_view> command, time_point,
                                prelude) override {
        if (command[0] == "EVALSHA" || command[0] == "GETRANGE") ++refresh_count_;
        reply result;
        result.type = reply::kind::error;
        result.text = "LOADING Redis is loading the dataset in memory";
        co_return result;
    }
    asio::awaitable<void> subscribe(std::string, time_point) override { co_return; }
    const session& current() const noexcept override { return session_; }
    bool connected() const noexcept override { return true; }
    asio::awaitable<void> close(time_point) override { co_return; }

private:
    int& refresh_count_;
    session session_;
};

class LatchWait : public ::testing::TestWithParam<bool> {};

TEST_P(LatchWait, PausesAsTheBoundsSay) {
    int refresh_count = 0;
    asio::io_context loop;
    backend_context context;
    context.strand = asio::make_strand(loop);
    context.time = &real_runtime();
    const auto connect = single_server_factory([&](link::listener&, const std::string&) {
        return std::make_unique<loading_link>(refresh_count);
    });
    const options redis_options;
    limits bounds;
    bounds.first_pause = bounds.longest_pause = 2h;
    const auto created = GetParam()
                             ? redisson::make_backend(redis_options, context, connect, bounds)
                             : native::make_backend(redis_options, context, connect, bounds);
    auto waited = asio::co_spawn(context.strand,
                                 created->latches()->wait("it", 1, real_runtime().now() + 700ms),
                                 asio::use_future);
    loop.run();
    std::optional<errc> failed;
    try {
        (void)waited.get();
    } catch (const error& e) {
        failed = e.reason();
    }
    EXPECT_EQ(failed, errc::unavailable);
    EXPECT_EQ(refresh_count, 2) << "at the beginning and at the end";
}

INSTANTIATE_TEST_SUITE_P(OfBothLayouts, LatchWait, ::testing::Bool());

}  // namespace
}  // namespace pawl::redis
