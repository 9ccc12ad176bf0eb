// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A listing of the names at a server that never ends the list.
#include <redis/common/backends.hpp>
#include <redis/topology/single_server.hpp>

#include <pawl/redis.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pawl::redis {
namespace {

namespace asio = boost::asio;

std::size_t requests = 0;

// Answers every SCAN with a cursor that is not 0, so the list has no end, and with the given number
// of keys: always the same ones, or always new ones.
class endless_link final : public link {
public:
    endless_link(std::size_t keys, bool always_others) : keys_(keys), others_(always_others) {}

    asio::awaitable<reply> exec(std::span<const std::string_view> command, time_point,
                                prelude) override {
        reply result;
        if (command[0] != "SCAN") co_return result;
        ++requests;
        result.type = reply::kind::array;
        result.items.resize(2);
        result.items[0] = {reply::kind::string, 0, "7", {}};
        result.items[1].type = reply::kind::array;
        for (std::size_t i = 0; i < keys_; ++i) {
            const auto number = std::to_string(others_ ? ++last_ : i);
            result.items[1].items.push_back({reply::kind::string, 0, "pawl:{" + number + "}", {}});
        }
        co_return result;
    }
    const session& current() const noexcept override { return session_; }
    bool connected() const noexcept override { return true; }
    asio::awaitable<void> close(time_point) override { co_return; }

private:
    const std::size_t keys_;
    const bool others_;
    std::size_t last_ = 0;
    session session_;
};

class EndlessListing : public ::testing::TestWithParam<bool> {
protected:
    std::string failure(std::size_t keys_in_each_reply, const limits& bounds,
                        bool always_others = false) {
        asio::io_context loop;
        backend_context context;
        context.strand = asio::make_strand(loop);
        context.time = &real_runtime();
        const auto connect = single_server_factory([=](link::listener&, const std::string&) {
            return std::make_unique<endless_link>(keys_in_each_reply, always_others);
        });
        const options redis_options;
        const auto created = GetParam()
                                 ? redisson::make_backend(redis_options, context, connect, bounds)
                                 : native::make_backend(redis_options, context, connect, bounds);
        auto listed = asio::co_spawn(context.strand, created->list(""), asio::use_future);
        loop.run();
        try {
            listed.get();
        } catch (const error& e) {
            EXPECT_EQ(e.reason(), errc::protocol);
            return e.what();
        }
        return {};
    }
};

TEST_P(EndlessListing, EndsAfterSoManyRequests) {
    limits bounds;
    bounds.max_scan_requests = 5;
    EXPECT_THAT(failure(0, bounds), ::testing::HasSubstr("list a longer prefix"));
}

TEST_P(EndlessListing, EndsAfterSoManyKeys) {
    limits bounds;
    bounds.max_scanned_keys = 100;
    EXPECT_THAT(failure(60, bounds, true), ::testing::HasSubstr("more than 100 keys"));
}

TEST_P(EndlessListing, CountsARepeatedKeyOnce) {
    limits bounds;
    bounds.max_scanned_keys = 100;
    bounds.max_scan_requests = 5;
    const auto before = requests;
    (void)failure(60, bounds);
    EXPECT_EQ(requests, before + 5);
}

TEST_P(EndlessListing, EndsAfterSoMuchTime) {
    limits bounds;
    bounds.max_scan_time = {};
    const auto before = requests;
    EXPECT_THAT(failure(1, bounds), ::testing::HasSubstr("list a longer prefix"));
    EXPECT_EQ(requests, before);
}

INSTANTIATE_TEST_SUITE_P(OfBothLayouts, EndlessListing, ::testing::Bool());

}  // namespace
}  // namespace pawl::redis
