// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A client with many holds closes: few releases are under way at a time, so that few of them have
// to end at the end of the drain time.
#include "core/engine/engine.hpp"
#include "core/util/wakeup.hpp"
#include "support/idle_backend.hpp"

#include <pawl/client.hpp>
#include <pawl/spi/backend.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr std::size_t hold_count = 5000;
constexpr std::size_t some_holds = 2000;
constexpr std::size_t most_releases = pawl::core::engine::most_releases_at_close;

struct release_counts {
    std::size_t started = 0;
    std::size_t under_way = 0;
    std::size_t max_under_way = 0;
    std::size_t started_after_close = 0;
};

// Grants every lock, and renews none. A release is answered at the next turn of the loop. A silent
// service answers it only when the service is closed; so does every service for a lock whose name
// begins with "lost".
class counting_backend final : public support::idle_backend {
public:
    counting_backend(pawl::spi::backend_context context, std::shared_ptr<release_counts> counts,
                     bool is_silent)
        : context_(std::move(context)), counts_(std::move(counts)), silent_(is_silent) {}

    asio::awaitable<std::optional<pawl::spi::grant>> acquire(const pawl::spi::claim& requested,
                                                             pawl::time_point) override {
        pawl::spi::grant granted;
        granted.deadline = context_.time->now() + requested.ttl;
        co_return granted;
    }
    asio::awaitable<pawl::release_result> release(const pawl::spi::hold& released) override {
        const bool is_silent = silent_ || released.claim.name.starts_with("lost");
        ++counts_->started;
        if (closed_) ++counts_->started_after_close;
        counts_->max_under_way = std::max(counts_->max_under_way, ++counts_->under_way);
        if (is_silent) {
            pawl::core::wakeup wakeup(*context_.time, context_.strand);
            const auto entry = unanswered_.insert(unanswered_.end(), &wakeup);
            co_await wakeup.wait_until(pawl::time_point::max());
            unanswered_.erase(entry);
        } else {
            co_await asio::post(context_.strand, asio::use_awaitable);
        }
        --counts_->under_way;
        co_return is_silent ? pawl::release_result::unknown : pawl::release_result::released;
    }
    asio::awaitable<void> close(pawl::time_point) override {
        closed_ = true;
        for (auto* each : unanswered_)
            each->notify();
        co_return;
    }

private:
    pawl::spi::backend_context context_;
    std::shared_ptr<release_counts> counts_;
    const bool silent_;
    bool closed_ = false;
    std::list<pawl::core::wakeup*> unanswered_;
};

class counting_service final : public pawl::service::definition {
public:
    counting_service(std::shared_ptr<release_counts> counts, bool is_silent)
        : counts_(std::move(counts)), silent_(is_silent) {}
    std::unique_ptr<pawl::spi::backend> open(pawl::spi::backend_context context) const override {
        return std::make_unique<counting_backend>(std::move(context), counts_, silent_);
    }
    std::string describe() const override { return "counting:"; }

private:
    std::shared_ptr<release_counts> counts_;
    const bool silent_;
};

// By the handles' destructors, by calls of release, or by the client that still has them.
enum class ending_kind { by_destructor, by_release, by_client };

struct outcomes {
    std::map<pawl::release_result, std::size_t> results;
    int closed = 0;
};

std::vector<pawl::held_lock> acquire_many(asio::io_context& loop, pawl::client& locks,
                                          const std::string& prefix, std::size_t count,
                                          pawl::duration ttl) {
    std::vector<pawl::held_lock> held;
    for (std::size_t i = 0; i < count; ++i)
        locks.async_try_acquire(prefix + std::to_string(i), pawl::try_options{.ttl = ttl},
                                [&](boost::system::error_code, pawl::held_lock lock) {
                                    held.push_back(std::move(lock));
                                });
    while (held.size() < count)
        loop.run_one();
    return held;
}

outcomes close_with_many_holds(const std::shared_ptr<release_counts>& counts, bool is_silent,
                               ending_kind way_of_ending, pawl::duration drain,
                               std::size_t lost_holds = 0) {
    asio::io_context loop;
    pawl::client_options options;
    options.drain = drain;
    pawl::client locks(loop.get_executor(),
                       pawl::service(std::make_shared<counting_service>(counts, is_silent)),
                       options);
    auto held = acquire_many(loop, locks, "lock ", hold_count, 10min);
    const auto lost = acquire_many(loop, locks, "lost ", lost_holds, 10ms);
    while (counts->under_way < lost_holds)
        loop.run_one();
    outcomes result;
    if (way_of_ending == ending_kind::by_release) {
        for (auto& each : held)
            each.async_release(
                [&](pawl::release_result release_outcome) { ++result.results[release_outcome]; });
    } else if (way_of_ending == ending_kind::by_destructor) {
        held.clear();
    }
    locks.async_close([&] { ++result.closed; });
    loop.run();
    return result;
}

class ClosingWithManyHolds : public testing::TestWithParam<ending_kind> {};

//   5000 releases are requested | close | the server does not reply | the drain time is over
TEST_P(ClosingWithManyHolds, BeginsFewReleasesAtAServerThatIsSilent) {
    const auto counts = std::make_shared<release_counts>();
    const auto result = close_with_many_holds(counts, true, GetParam(), 50ms);
    EXPECT_EQ(result.closed, 1);
    EXPECT_GT(counts->started, 0U);
    EXPECT_LT(counts->started, some_holds);
    EXPECT_EQ(counts->started_after_close, 0U);
    EXPECT_EQ(counts->under_way, 0U);
    if (GetParam() == ending_kind::by_release) {
        EXPECT_EQ(result.results.size(), 1U);
        EXPECT_EQ(result.results.at(pawl::release_result::unknown), hold_count);
    }
}

TEST_P(ClosingWithManyHolds, GivesAllBackToAServerThatAnswers) {
    const auto counts = std::make_shared<release_counts>();
    const auto result = close_with_many_holds(counts, false, GetParam(), 10min);
    EXPECT_EQ(result.closed, 1);
    EXPECT_EQ(counts->started, hold_count);
    EXPECT_EQ(counts->started_after_close, 0U);
    EXPECT_LT(counts->max_under_way, some_holds);
    if (GetParam() == ending_kind::by_release) {
        EXPECT_EQ(result.results.at(pawl::release_result::released), hold_count);
    }
}

// The releases of lost holds have no bound, and do not count for that of the others.
//   1024 locks expire, and their releases get no answer | 5000 others are released | close
TEST_P(ClosingWithManyHolds, GivesAllBackWhileReleasesOfLostHoldsHaveNoAnswer) {
    const auto counts = std::make_shared<release_counts>();
    const auto result = close_with_many_holds(counts, false, GetParam(), 1s, most_releases);
    EXPECT_EQ(result.closed, 1);
    EXPECT_EQ(counts->started, most_releases + hold_count);
    EXPECT_EQ(counts->started_after_close, 0U);
    if (GetParam() == ending_kind::by_release) {
        EXPECT_EQ(result.results.size(), 1U);
        EXPECT_EQ(result.results.at(pawl::release_result::released), hold_count);
    }
}

//   1025 locks expire, and their releases get no answer | 5000 others are released | close | the
//   server does not reply | the drain time is over
TEST_P(ClosingWithManyHolds, BeginsFewReleasesBesideThoseOfLostHolds) {
    const auto counts = std::make_shared<release_counts>();
    const auto result = close_with_many_holds(counts, true, GetParam(), 50ms, most_releases + 1);
    EXPECT_EQ(result.closed, 1);
    EXPECT_GT(counts->started, most_releases + 1);
    EXPECT_LT(counts->started, most_releases + 1 + some_holds);
    EXPECT_EQ(counts->started_after_close, 0U);
    EXPECT_EQ(counts->under_way, 0U);
}

INSTANTIATE_TEST_SUITE_P(Each, ClosingWithManyHolds,
                         testing::Values(ending_kind::by_destructor, ending_kind::by_release,
                                         ending_kind::by_client));

}  // namespace
