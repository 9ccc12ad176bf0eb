// A client with many holds closes: few releases are under way at a time, so that the end of the
// drain time has few of them to end.
#include "core/alarm.hpp"

#include <pawl/backend.hpp>
#include <pawl/client.hpp>

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

constexpr std::size_t holds = 5000;
constexpr std::size_t few = 2000;

struct release_counts {
    std::size_t begun = 0;
    std::size_t under_way = 0;
    std::size_t most_under_way = 0;
    std::size_t begun_after_close = 0;
};

// Gives every lock to whoever asks. A release is answered at the next turn of the loop, or, by a
// silent service, not before it is closed.
class counting_backend final : public pawl::backend {
public:
    counting_backend(pawl::backend_context context, std::shared_ptr<release_counts> counts,
                     bool is_silent)
        : context_(std::move(context)), counts_(std::move(counts)), silent_(is_silent) {}

    asio::awaitable<std::optional<pawl::grant>> acquire(const pawl::claim& what,
                                                        pawl::time_point) override {
        pawl::grant given;
        given.deadline = context_.time->now() + what.ttl;
        co_return given;
    }
    asio::awaitable<void> renew(std::span<pawl::renewal>) override { co_return; }
    asio::awaitable<pawl::release_result> release(const pawl::hold&) override {
        ++counts_->begun;
        if (closed_) ++counts_->begun_after_close;
        counts_->most_under_way = std::max(counts_->most_under_way, ++counts_->under_way);
        if (silent_) {
            pawl::core::alarm answer(*context_.time, context_.strand);
            const auto entry = unanswered_.insert(unanswered_.end(), &answer);
            co_await answer.wait_until(pawl::time_point::max());
            unanswered_.erase(entry);
        } else {
            co_await asio::post(context_.strand, asio::use_awaitable);
        }
        --counts_->under_way;
        co_return silent_ ? pawl::release_result::unknown : pawl::release_result::released;
    }
    asio::awaitable<pawl::lock_info> inspect(std::string_view) override {
        co_return pawl::lock_info{};
    }
    asio::awaitable<std::vector<pawl::lock_info>> list(std::string_view) override {
        co_return std::vector<pawl::lock_info>();
    }
    asio::awaitable<bool> force_release(std::string_view) override { co_return false; }
    asio::awaitable<pawl::examination> examine() override { co_return pawl::examination{}; }
    asio::awaitable<void> close(pawl::time_point) override {
        closed_ = true;
        for (auto* each : unanswered_)
            each->ring();
        co_return;
    }
    pawl::promises promised() const noexcept override { return {}; }

private:
    pawl::backend_context context_;
    std::shared_ptr<release_counts> counts_;
    const bool silent_;
    bool closed_ = false;
    std::list<pawl::core::alarm*> unanswered_;
};

class counting_service final : public pawl::service::definition {
public:
    counting_service(std::shared_ptr<release_counts> counts, bool is_silent)
        : counts_(std::move(counts)), silent_(is_silent) {}
    std::unique_ptr<pawl::backend> open(pawl::backend_context context) const override {
        return std::make_unique<counting_backend>(std::move(context), counts_, silent_);
    }
    std::string describe() const override { return "counting:"; }

private:
    std::shared_ptr<release_counts> counts_;
    const bool silent_;
};

// By the handles' destructors, by calls that want to know, or by the client that has them still.
enum class ending { dropped, asked, held };

struct answers {
    std::map<pawl::release_result, std::size_t> results;
    int closed = 0;
};

answers close_with_many_holds(const std::shared_ptr<release_counts>& counts, bool is_silent,
                              ending how, pawl::duration drain) {
    asio::io_context loop;
    pawl::client_options options;
    options.drain = drain;
    pawl::client locks(loop.get_executor(),
                       pawl::service(std::make_shared<counting_service>(counts, is_silent)),
                       options);
    std::vector<pawl::held_lock> held;
    for (std::size_t i = 0; i < holds; ++i)
        locks.async_try_acquire("lock " + std::to_string(i), pawl::try_options{.ttl = 10min},
                                [&](boost::system::error_code, pawl::held_lock got) {
                                    held.push_back(std::move(got));
                                });
    while (held.size() < holds)
        loop.run_one();
    answers told;
    if (how == ending::asked) {
        for (auto& each : held)
            each.async_release([&](pawl::release_result found) { ++told.results[found]; });
    } else if (how == ending::dropped) {
        held.clear();
    }
    locks.async_close([&] { ++told.closed; });
    loop.run();
    return told;
}

class ClosingWithManyHolds : public testing::TestWithParam<ending> {};

//   5000 releases are asked for | close | the server says nothing | the drain time is over
TEST_P(ClosingWithManyHolds, BeginsFewReleasesAtAServerThatIsSilent) {
    const auto counts = std::make_shared<release_counts>();
    const auto told = close_with_many_holds(counts, true, GetParam(), 50ms);
    EXPECT_EQ(told.closed, 1);
    EXPECT_GT(counts->begun, 0U);
    EXPECT_LT(counts->begun, few);
    EXPECT_EQ(counts->begun_after_close, 0U);
    EXPECT_EQ(counts->under_way, 0U);
    if (GetParam() == ending::asked) {
        EXPECT_EQ(told.results.size(), 1U);
        EXPECT_EQ(told.results.at(pawl::release_result::unknown), holds);
    }
}

TEST_P(ClosingWithManyHolds, GivesAllBackToAServerThatAnswers) {
    const auto counts = std::make_shared<release_counts>();
    const auto told = close_with_many_holds(counts, false, GetParam(), 10min);
    EXPECT_EQ(told.closed, 1);
    EXPECT_EQ(counts->begun, holds);
    EXPECT_EQ(counts->begun_after_close, 0U);
    EXPECT_LT(counts->most_under_way, few);
    if (GetParam() == ending::asked) {
        EXPECT_EQ(told.results.at(pawl::release_result::released), holds);
    }
}

INSTANTIATE_TEST_SUITE_P(Each, ClosingWithManyHolds,
                         testing::Values(ending::dropped, ending::asked, ending::held));

}  // namespace
