// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The sessions of a client, at a store that answers when the test says so.
#include "core/store/session_pool.hpp"
#include "manual_time.hpp"

#include <pawl/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <map>
#include <optional>
#include <vector>

namespace pawl::core {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

// Answers at once, or not until the limit of the request.
class scripted_store final : public session_requests {
public:
    scripted_store(runtime& time, asio::any_io_executor strand)
        : time_(time), strand_(std::move(strand)) {}

    asio::awaitable<std::string> open(duration, time_point give_up_at) override {
        ++opened;
        co_await answer(give_up_at);
        co_return "session " + std::to_string(opened);
    }
    asio::awaitable<bool> send_heartbeat(const pooled_session&, time_point give_up_at) override {
        ++heartbeats;
        co_await answer(give_up_at);
        co_return is_alive;
    }
    asio::awaitable<void> end(const pooled_session& session, time_point give_up_at) override {
        co_await answer(give_up_at);
        ended.push_back(session.id());
    }
    void on_session_end(const pooled_session& session) noexcept override {
        over.push_back(session.id());
    }

    bool is_answering = true, is_alive = true;
    duration delay{};
    int opened = 0, heartbeats = 0;
    std::vector<std::string> ended{}, over{};

private:
    asio::awaitable<void> answer(time_point give_up_at) {
        wakeup timer(time_, strand_);
        if (is_answering && delay > duration{}) co_await timer.wait_until(time_.now() + delay);
        if (is_answering) co_return;
        co_await timer.wait_until(give_up_at);
        throw error(errc::unreachable, "No answer.");
    }

    runtime& time_;
    const asio::any_io_executor strand_;
};

class SessionPool : public testing::Test {
protected:
    ~SessionPool() override {
        if (pool_) pool_->abandon();
        run();
    }
    void make_pool(const session_limits& limits = {}) {
        backend_context context;
        context.strand = loop_.get_executor();
        context.time = &time_;
        pool_ = std::make_shared<session_pool>(store_, context, limits);
    }
    void run() {
        loop_.restart();
        loop_.poll();
    }
    // In small steps, as real time passes.
    void advance(duration by) {
        for (duration passed{}; passed < by; passed += 100ms) {
            time_.advance(100ms);
            run();
        }
    }
    template <class T>
    std::optional<T> result(asio::awaitable<T> operation) {
        const auto kept = std::make_shared<std::optional<T>>();
        failure_.reset();
        asio::co_spawn(loop_, std::move(operation),
                       [kept, this](std::exception_ptr failed, T value) {
                           try {
                               if (failed) std::rethrow_exception(failed);
                               *kept = std::move(value);
                           } catch (const error& thrown) {
                               failure_ = thrown;
                           }
                       });
        run();
        return *kept;
    }
    session_ptr get(duration ttl) {
        return result(pool_->get(ttl, time_.now() + 1s)).value_or(nullptr);
    }
    errc get_failure(duration ttl) {
        EXPECT_FALSE(get(ttl));
        return failure_ ? failure_->reason() : errc{};
    }

    manual_time time_;
    asio::io_context loop_;
    std::shared_ptr<scripted_store> store_ =
        std::make_shared<scripted_store>(time_, loop_.get_executor());
    std::shared_ptr<session_pool> pool_;
    std::optional<error> failure_;
};

TEST_F(SessionPool, HoldsWithTheSameTtlShareASession) {
    make_pool();
    const auto first = get(6s);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->deadline(), time_.now() + 6s - drift(6s));
    EXPECT_EQ(get(6s), first);
    EXPECT_NE(get(9s), first);
    EXPECT_EQ(store_->opened, 2);
}

TEST_F(SessionPool, CallersThatComeDuringTheRequestShareItsSession) {
    make_pool();
    store_->delay = 500ms;
    EXPECT_FALSE(get(6s));
    EXPECT_FALSE(get(6s));
    advance(500ms);
    EXPECT_EQ(store_->opened, 1);
    EXPECT_TRUE(get(6s));
}

TEST_F(SessionPool, HeartbeatsExtendTheSession) {
    make_pool();
    const auto session = get(6s);
    advance(30s);
    EXPECT_FALSE(session->is_over());
    EXPECT_EQ(store_->heartbeats, 12);
    EXPECT_GE(session->proved_at(), time_.now() - 2400ms);
}

// The deadline counts from the time before the heartbeat was sent.
TEST_F(SessionPool, ASlowAnswerProvesTheTimeOfItsRequest) {
    make_pool();
    const auto session = get(6s);
    store_->delay = 1s;
    const auto sent_at = time_.now() + 2400ms;
    advance(3400ms);
    EXPECT_EQ(session->proved_at(), sent_at);
}

TEST_F(SessionPool, WithoutAnswersTheSessionEndsBeforeItsTtl) {
    make_pool();
    const auto session = get(6s);
    store_->is_answering = false;
    advance(5900ms);
    EXPECT_FALSE(session->is_over());
    EXPECT_GE(store_->heartbeats, 2);
    advance(100ms);
    EXPECT_TRUE(session->is_over());
    EXPECT_EQ(store_->over, std::vector<std::string>{"session 1"});
    EXPECT_EQ(pool_->find("session 1"), nullptr);
}

TEST_F(SessionPool, TheStoresAnswerThatTheSessionHasEndedEndsIt) {
    make_pool();
    const auto session = get(6s);
    store_->is_alive = false;
    advance(2400ms);
    EXPECT_TRUE(session->is_over());
    EXPECT_NE(get(6s), session);
}

// The answer to the heartbeat comes after the deadline: another client may have the lock.
TEST_F(SessionPool, ALateAnswerRevivesNothing) {
    make_pool();
    const auto session = get(6s);
    store_->delay = 8s;
    advance(12s);
    EXPECT_TRUE(session->is_over());
    EXPECT_EQ(session->proved_at(), time_.now() - 12s);
}

TEST_F(SessionPool, AProofIsAHeartbeatThatIsYoungEnough) {
    make_pool();
    const auto session = get(6s);
    advance(1s);
    EXPECT_EQ(result(pool_->prove(session, 2s, time_.now() + 1s)), true);
    EXPECT_EQ(store_->heartbeats, 0);
    EXPECT_EQ(result(pool_->prove(session, 0s, time_.now() + 1s)), true);
    EXPECT_EQ(store_->heartbeats, 1);
    EXPECT_EQ(session->proved_at(), time_.now());
    store_->is_answering = false;
    advance(1s);
    EXPECT_EQ(result(pool_->prove(session, 0s, time_.now())), false);
}

TEST_F(SessionPool, AProofOfASessionThatEndsIsFalse) {
    make_pool();
    const auto session = get(6s);
    store_->is_alive = false;
    advance(100ms);
    EXPECT_EQ(result(pool_->prove(session, 0s, time_.now() + 1s)), false);
    EXPECT_TRUE(session->is_over());
}

TEST_F(SessionPool, ASessionThatIsNotUsedIsEnded) {
    make_pool({.keep_unused = 10s});
    static_cast<void>(get(2s));
    advance(9s);
    EXPECT_TRUE(store_->ended.empty());
    advance(1s);
    EXPECT_EQ(store_->ended, std::vector<std::string>{"session 1"});
}

TEST_F(SessionPool, AUsedSessionIsKept) {
    make_pool({.keep_unused = 10s});
    {
        const session_use use(get(2s));
        advance(30s);
        EXPECT_TRUE(store_->ended.empty());
    }
    advance(11s);
    EXPECT_EQ(store_->ended.size(), 1U);
}

TEST_F(SessionPool, AnotherTtlTakesThePlaceOfAnUnusedSession) {
    make_pool({.most_sessions = 2});
    static_cast<void>(get(2s));
    const auto longer = get(20s);
    EXPECT_EQ(get_failure(3s), errc::exhausted);
    advance(5s);
    EXPECT_TRUE(get(3s));
    EXPECT_EQ(store_->ended, std::vector<std::string>{"session 1"});
    EXPECT_FALSE(longer->is_over());
    EXPECT_EQ(get_failure(4s), errc::exhausted);
}

TEST_F(SessionPool, WithoutAnAnswerThereIsNoSession) {
    make_pool();
    store_->is_answering = false;
    EXPECT_FALSE(get(6s));
    advance(1s);
    ASSERT_TRUE(failure_);
    EXPECT_EQ(failure_->reason(), errc::unreachable);
    advance(5s);
    store_->is_answering = true;
    EXPECT_TRUE(get(6s));
}

asio::awaitable<bool> close(session_pool& pool, time_point give_up_at) {
    co_await pool.close(give_up_at);
    co_return true;
}

TEST_F(SessionPool, CloseEndsAllSessionsAndMakesNone) {
    make_pool();
    static_cast<void>(get(2s));
    static_cast<void>(get(3s));
    EXPECT_EQ(result(close(*pool_, time_.now() + 1s)), true);
    EXPECT_EQ(store_->ended.size(), 2U);
    EXPECT_EQ(store_->over.size(), 2U);
    EXPECT_EQ(get_failure(2s), errc::cancelled);
}

TEST_F(SessionPool, CloseWaitsNoLongerThanItMay) {
    make_pool();
    static_cast<void>(get(2s));
    store_->is_answering = false;
    EXPECT_FALSE(result(close(*pool_, time_.now() + 1s)));
    advance(1s);
    EXPECT_TRUE(store_->ended.empty());
    EXPECT_EQ(store_->over.size(), 1U);
}

}  // namespace
}  // namespace pawl::core
