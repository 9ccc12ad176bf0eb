// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A wait for another attempt of `once` in Redis ends if it is cancelled.
#include "redis_fixture.hpp"

#include <pawl/guard/async_redis_once.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <thread>

namespace {

using namespace guard_tests;
using namespace pawl::guard;
using namespace std::chrono_literals;
namespace asio = boost::asio;

constexpr once_options long_wait{.lease = 1min, .wait = 1h};

class RedisOnceWait : public redis_test {
protected:
    RedisOnceWait() : before(claim(connection, "k", {.lease = 1h, .keep = 3h})) {}
    // The attempt before is not disturbed.
    void end_before() {
        ASSERT_TRUE(before);
        EXPECT_TRUE(finish(connection, *before.attempt, outcome("first"), patient));
    }

    once_claim before;
    resp_connection waiting{server};
};

TEST_F(RedisOnceWait, EndsWithTheStopOfItsToken) {
    std::stop_source cancel;
    std::jthread canceller([&] { cancel.request_stop(); });
    EXPECT_EQ(code_of([&] { (void)claim(waiting, "k", long_wait, cancel.get_token()); }),
              pawl::errc::cancelled);
    end_before();
}

// Answers at once, so that a coroutine is suspended in its pauses only.
class immediate_connection final : public async_redis_connection {
public:
    explicit immediate_connection(redis_connection& inner) : inner_(inner) {}
    asio::awaitable<redis_reply> execute(const redis_command& command) override {
        co_return inner_.execute(command);
    }

private:
    redis_connection& inner_;
};

TEST_F(RedisOnceWait, EndsWithItsCoroutine) {
    asio::io_context loop;
    immediate_connection view(waiting);
    asio::cancellation_signal cancel;
    auto ended = asio::co_spawn(loop, async_claim(view, "k", long_wait),
                                asio::bind_cancellation_slot(cancel.slot(), asio::use_future));
    while (waiting.sent.size() < 4)
        loop.run_one();
    cancel.emit(asio::cancellation_type::terminal);
    loop.run();
    try {
        (void)ended.get();
        ADD_FAILURE() << "it was not cancelled";
    } catch (const boost::system::system_error& aborted) {
        EXPECT_EQ(aborted.code(), asio::error::operation_aborted);
    }
    end_before();
}

}  // namespace
