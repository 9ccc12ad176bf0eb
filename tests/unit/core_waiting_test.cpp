// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the core does with acquires that wait at the service: how long they may wait, and their end
// when the client closes.
#include "support/idle_backend.hpp"

#include <pawl/client.hpp>
#include <pawl/spi/backend.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct seen_wait {
    pawl::time_point asked_at, give_up_at;
};

struct recorded {
    std::vector<seen_wait> waits;
    std::deque<asio::any_completion_handler<void()>> open;
    bool keeps_waiting = false;
    bool is_away = false;

    void end_all(const asio::any_io_executor& executor) {
        for (auto& each : std::exchange(open, {}))
            asio::post(executor, std::move(each));
    }
};

// A wait that only the test ends. Its cancellation fails for lack of memory.
struct start_wait {
    recorded& record;
    template <class Handler>
    void operator()(Handler&& handler) const {
        asio::any_completion_handler<void()> erased(std::forward<Handler>(handler));
        auto slot = asio::get_associated_cancellation_slot(erased);
        if (slot.is_connected())
            slot.assign([](asio::cancellation_type) { throw std::bad_alloc(); });
        record.open.push_back(std::move(erased));
    }
};

// Every lock is taken.
class taken_backend final : public support::idle_backend {
public:
    taken_backend(pawl::spi::backend_context context, std::shared_ptr<recorded> record)
        : context_(std::move(context)), record_(std::move(record)) {}

    asio::awaitable<std::optional<pawl::spi::grant>> acquire(const pawl::spi::claim&,
                                                             pawl::time_point give_up_at) override {
        record_->waits.push_back({context_.time->now(), give_up_at});
        if (record_->is_away) throw pawl::error(pawl::errc::unreachable, "The service is away.");
        if (record_->keeps_waiting) {
            const start_wait start{*record_};
            co_await asio::async_initiate<decltype(asio::use_awaitable), void()>(
                start, asio::use_awaitable);
        }
        co_return std::nullopt;
    }
    asio::awaitable<void> close(pawl::time_point) override {
        record_->end_all(context_.strand);
        co_return;
    }

private:
    pawl::spi::backend_context context_;
    std::shared_ptr<recorded> record_;
};

class taken_service final : public pawl::service::definition {
public:
    explicit taken_service(std::shared_ptr<recorded> record) : record_(std::move(record)) {}
    std::unique_ptr<pawl::spi::backend> open(pawl::spi::backend_context context) const override {
        return std::make_unique<taken_backend>(std::move(context), record_);
    }
    std::string describe() const override { return "taken:"; }

private:
    std::shared_ptr<recorded> record_;
};

class Waiting : public testing::Test {
protected:
    // Counts the acquires that end.
    void acquire(const std::string& name, pawl::duration wait) {
        locks.async_acquire(name, pawl::lock_options{.wait = wait},
                            [this](boost::system::error_code failed, pawl::held_lock) {
                                EXPECT_TRUE(failed);
                                ++ended;
                            });
    }

    asio::io_context loop;
    const std::shared_ptr<recorded> record = std::make_shared<recorded>();
    const pawl::client_options options{.drain = 50ms};
    pawl::client locks{loop.get_executor(), pawl::service(std::make_shared<taken_service>(record)),
                       options};
    int ended = 0;
};

// Otherwise the backend would take it for a try, which may last the whole reply timeout.
//   acquire | the loop is busy for longer than the wait | the request is sent
TEST_F(Waiting, IsNoTryIfTheLoopIsBusy) {
    acquire("it", 10ms);
    std::this_thread::sleep_for(20ms);  // the loop does not run
    while (ended == 0)
        loop.run_one();
    ASSERT_EQ(record->waits.size(), 1U);
    EXPECT_GT(record->waits[0].give_up_at, record->waits[0].asked_at);
}

//   acquire | the service is away | the pause before the last attempt reaches to the wait's end
TEST_F(Waiting, IsNoTryIfTheServiceIsAway) {
    record->is_away = true;
    acquire("it", 20ms);
    while (ended == 0)
        loop.run_one();
    EXPECT_GT(record->waits.size(), 1U);
    for (const auto& each : record->waits)
        EXPECT_GT(each.give_up_at, each.asked_at);
}

//   A and B wait | close | A's cancellation fails | B's, too | the drain time is over
TEST_F(Waiting, EndsWithTheClientAlsoIfItsCancellationFails) {
    record->keeps_waiting = true;
    acquire("a", 10min);
    acquire("b", 10min);
    while (record->open.size() < 2)
        loop.run_one();
    int closed = 0;
    locks.async_close([&] { ++closed; });
    while (closed == 0)
        loop.run_one();
    EXPECT_TRUE(record->open.empty()) << "the backend was not closed";
    record->end_all(loop.get_executor());
    loop.run();
    EXPECT_EQ(closed, 1);
    EXPECT_EQ(ended, 2);
}

}  // namespace
