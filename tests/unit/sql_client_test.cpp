// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A client of a database whose sessions answer when the test says so.
#include "manual_time.hpp"
#include "sql/backend.hpp"

#include "core/util/wakeup.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pawl::sql {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct open_call {
    std::string function;
    std::vector<parameter> parameters;
    std::string client;  // of the session
    core::wakeup answered;
    std::optional<std::vector<row>> answer{};
    std::exception_ptr failure{};

    [[nodiscard]] std::string text(std::size_t index) const {
        return std::get<std::string>(parameters[index]);
    }
    [[nodiscard]] std::int64_t number(std::size_t index) const {
        return std::get<std::int64_t>(parameters[index]);
    }
};

class scripted_session;

struct script {
    std::deque<std::shared_ptr<open_call>> calls;  // without an answer, the oldest first
    std::size_t connects = 0, closed = 0;
    std::optional<error> refusal{};  // of the next connects
    scripted_session* present = nullptr;
};

class scripted_session final : public session {
public:
    scripted_session(script& test, runtime& time, asio::any_io_executor executor,
                     session_handlers handlers)
        : handlers(std::move(handlers)),
          test_(test),
          time_(time),
          executor_(std::move(executor)),
          facts_{.client = "session " + std::to_string(test.connects), .boot = 1} {
        test_.present = this;
    }
    ~scripted_session() override {
        if (test_.present == this) test_.present = nullptr;
    }
    const session_facts& facts() const noexcept override { return facts_; }
    bool is_over() const noexcept override { return is_over_; }
    asio::awaitable<std::vector<row>> run(const call& request, time_point give_up_at) override {
        if (is_over_) throw no_answer("over");
        const auto made =
            std::make_shared<open_call>(open_call{std::string(request.function), request.parameters,
                                                  facts_.client, core::wakeup(time_, executor_)});
        test_.calls.push_back(made);
        const bool is_in_time = co_await made->answered.wait_until(give_up_at);
        std::erase(test_.calls, made);
        if (made->failure) std::rethrow_exception(made->failure);
        if (!is_in_time || !made->answer) throw no_answer("no answer");
        co_return *made->answer;
    }
    void close() noexcept override {
        is_over_ = true;
        ++test_.closed;
    }
    // The session ends by itself.
    void end() {
        is_over_ = true;
        for (const auto& each : std::deque(test_.calls))
            if (each->client == facts_.client) each->answered.notify();
        handlers.on_end();
    }
    const session_handlers handlers;

private:
    script& test_;
    runtime& time_;
    asio::any_io_executor executor_;
    const session_facts facts_;
    bool is_over_ = false;
};

class scripted_connector final : public connector {
public:
    scripted_connector(script& test, const backend_context& context)
        : test_(test), context_(context) {}
    asio::awaitable<std::shared_ptr<session>> connect(session_handlers handlers,
                                                      time_point) override {
        ++test_.connects;
        if (test_.refusal) throw error(*test_.refusal);
        co_return std::make_shared<scripted_session>(test_, *context_.time, context_.strand,
                                                     std::move(handlers));
    }
    std::string describe() const override { return "The database"; }
    asio::awaitable<examination> examine(session&, time_point) override { co_return examination{}; }
    asio::awaitable<void> check_durability(session&, durability, time_point) override { co_return; }
    spi::capabilities capabilities() const noexcept override { return {}; }

private:
    script& test_;
    const backend_context context_;
};

class SqlClient : public ::testing::Test, protected loss_listener {
protected:
    struct acquisition {
        claim requested{};
        bool is_over = false;
        std::optional<grant> granted{};
        std::optional<error> failure{};
    };

    ~SqlClient() override {
        close(time_.now());
        for (int i = 0; i < 100 && !test_.calls.empty(); ++i)
            fail_all();
        backend_.reset();
        run_ready();
    }
    void on_loss(std::string_view owner, loss_reason) override { lost_.emplace_back(owner); }
    void on_possible_loss() override { ++possible_losses_; }

    void run_ready() {
        loop_.restart();
        loop_.poll();
    }
    void advance(duration step) {
        time_.advance(step);
        run_ready();
    }
    // In steps, so that each pause begins when the one before has ended.
    void advance_slowly(duration all) {
        for (duration passed{}; passed < all; passed += 50ms)
            advance(50ms);
    }
    std::shared_ptr<acquisition> acquire(duration wait, const std::string& owner = "owner",
                                         duration ttl = 30s) {
        const auto made = std::make_shared<acquisition>();
        made->requested.name = "it";
        made->requested.owner = owner;
        made->requested.ttl = ttl;
        const auto give_up_at = time_.now() + wait;
        asio::co_spawn(loop_, backend_->acquire(made->requested, give_up_at),
                       [made](const std::exception_ptr& exception, std::optional<grant> granted) {
                           made->is_over = true;
                           made->granted = std::move(granted);
                           try {
                               if (exception) std::rethrow_exception(exception);
                           } catch (const error& failed) {
                               made->failure = failed;
                           }
                       });
        run_ready();
        return made;
    }
    void answer(std::vector<row> rows) {
        ASSERT_FALSE(test_.calls.empty());
        test_.calls.front()->answer = std::move(rows);
        test_.calls.front()->answered.notify();
        run_ready();
    }
    void fail(const error& failure) {
        ASSERT_FALSE(test_.calls.empty());
        test_.calls.front()->failure = std::make_exception_ptr(failure);
        test_.calls.front()->answered.notify();
        run_ready();
    }
    void fail_all() {
        if (!test_.calls.empty()) fail(error(errc::refused, "The test is over."));
    }
    void queue(std::int64_t clock = 5'000'000) {
        answer({{"q", std::nullopt, "20000", "t", std::nullopt, std::to_string(clock)}});
    }
    void push(const std::string& message) {
        test_.present->handlers.on_message(message);
        run_ready();
    }
    void end_session() {
        test_.present->end();
        run_ready();
    }
    // Of the oldest call; empty without one.
    std::string asked() { return test_.calls.empty() ? "" : test_.calls.front()->function; }
    // Answers undos until there is none for ten seconds. Returns their number.
    int answer_undos(const std::string& is_over, duration for_so_long) {
        int count = 0;
        for (duration passed{}; passed < for_so_long; passed += 50ms) {
            if (asked() == "leave") {
                ++count;
                answer({{"e", std::nullopt, std::nullopt, is_over}});
            }
            advance(50ms);
        }
        return count;
    }
    std::shared_ptr<bool> close(time_point give_up_at) {
        auto is_closed = std::make_shared<bool>(false);
        asio::co_spawn(loop_, backend_->close(give_up_at),
                       [is_closed](const std::exception_ptr&) { *is_closed = true; });
        run_ready();
        return is_closed;
    }

    asio::io_context loop_;
    manual_time time_;
    script test_;
    std::vector<std::string> lost_;
    int possible_losses_ = 0;
    backend_context context_{.strand = loop_.get_executor(), .time = &time_, .listener = this};
    std::unique_ptr<backend> backend_ =
        make_backend(std::make_unique<scripted_connector>(test_, context_), "pawl", context_);
};

TEST_F(SqlClient, ALeaseCountsFromTheRequest) {
    const auto began_at = time_.now();
    const auto made = acquire(10s);
    ASSERT_EQ(asked(), "acquire");
    advance(400ms);
    answer({{"g", "7", "30000"}});
    ASSERT_TRUE(made->granted);
    EXPECT_EQ(made->granted->deadline, began_at + 30s - drift(30s));
    EXPECT_EQ(made->granted->token.value(), 7u);
}

TEST_F(SqlClient, ALostAnswerIsUndone) {
    const auto made = acquire(0s);
    advance(1s);
    ASSERT_TRUE(made->failure);
    EXPECT_EQ(made->failure->reason(), errc::unreachable);
    ASSERT_EQ(asked(), "leave");
    EXPECT_EQ(test_.calls.front()->text(2), "owner");
    EXPECT_EQ(test_.calls.front()->text(4), "session 1");
    EXPECT_EQ(test_.calls.front()->number(6), 0);
    EXPECT_EQ(answer_undos("t", 40s), 1);
}

TEST_F(SqlClient, ARefusedClaimNeedsNoUndo) {
    const auto made = acquire(10s);
    fail(error(errc::refused, "no rights"));
    ASSERT_TRUE(made->failure);
    EXPECT_EQ(made->failure->reason(), errc::refused);
    EXPECT_EQ(asked(), "");
}

// A request of the ended session may still arrive at the database.
TEST_F(SqlClient, AnUndoIsRepeatedUntilTheOldSessionHasEnded) {
    const auto made = acquire(10s);
    end_session();
    ASSERT_TRUE(made->failure);
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(asked(), "leave") << i;
        EXPECT_EQ(test_.calls.front()->client, "session 2");
        EXPECT_EQ(test_.calls.front()->text(4), "session 1");
        answer({{"e", std::nullopt, std::nullopt, "f"}});
        advance_slowly(1s);
    }
    EXPECT_EQ(answer_undos("t", 40s), 1);
}

TEST_F(SqlClient, AnUndoWithoutAnswersGoesOn) {
    acquire(10s);
    end_session();
    ASSERT_EQ(asked(), "leave");
    end_session();
    advance_slowly(1s);
    ASSERT_EQ(asked(), "leave");
    EXPECT_EQ(test_.calls.front()->client, "session 3");
    EXPECT_EQ(test_.calls.front()->text(4), "session 1");
    EXPECT_EQ(answer_undos("t", 40s), 1);
}

TEST_F(SqlClient, AnUndoEndsAfterTheTtl) {
    acquire(10s, "owner", 5s);
    end_session();
    const int count = answer_undos("f", 6s);
    EXPECT_GT(count, 4);
    EXPECT_EQ(answer_undos("f", 30s), 0);
}

TEST_F(SqlClient, AWaitEndsWithItsSession) {
    const auto made = acquire(60s);
    queue();
    EXPECT_FALSE(made->is_over);
    end_session();
    ASSERT_TRUE(made->failure);
    EXPECT_EQ(made->failure->reason(), errc::unreachable);
    EXPECT_TRUE(made->failure->is_transient());
    ASSERT_EQ(asked(), "leave");
    EXPECT_EQ(test_.calls.front()->text(4), "session 1");
    EXPECT_EQ(possible_losses_, 1);
    EXPECT_EQ(answer_undos("t", 40s), 1);
}

// A server that starts again refuses for a while: the wait ends, and nothing runs in circles.
TEST_F(SqlClient, AWaitEndsWhileTheServerStarts) {
    const auto made = acquire(60s);
    queue();
    test_.refusal = error(errc::unavailable, "The database is starting.");
    end_session();
    ASSERT_TRUE(made->failure);
    EXPECT_TRUE(made->failure->is_transient());
    test_.refusal.reset();
    EXPECT_EQ(answer_undos("t", 40s), 1);
}

TEST_F(SqlClient, ARefreshThatTheDatabaseCouldNotRunIsRepeated) {
    const auto made = acquire(60s);
    queue();
    advance(20s);
    ASSERT_EQ(asked(), "refresh");
    fail(error(errc::unavailable, "deadlock"));
    EXPECT_FALSE(made->is_over);
    advance_slowly(700ms);
    ASSERT_EQ(asked(), "refresh");
    answer({{"g", "8", "30000"}});
    EXPECT_TRUE(made->granted);
}

TEST_F(SqlClient, ARestartedServerWantsAHello) {
    const auto made = acquire(10s);
    answer({{"r"}});
    ASSERT_TRUE(made->failure);
    EXPECT_EQ(made->failure->reason(), errc::unavailable);
    EXPECT_TRUE(made->failure->is_transient());
    EXPECT_EQ(test_.closed, 1u);
    EXPECT_EQ(asked(), "");
    acquire(10s, "another");
    EXPECT_EQ(test_.connects, 2u);
    EXPECT_EQ(possible_losses_, 1);
    ASSERT_EQ(asked(), "acquire");
    answer({{"g", "9", "30000"}});
}

TEST_F(SqlClient, APushedGrantCountsFromTheServersTime) {
    const auto asked_at = time_.now();
    const auto made = acquire(60s);
    queue(5'000'000);
    advance(2s);
    push("g owner 9 1800 6500000");
    ASSERT_TRUE(made->granted);
    EXPECT_EQ(made->granted->deadline, asked_at + 1500ms + 1800ms - drift(1800ms));
    EXPECT_TRUE(made->granted->needs_renewal);
    EXPECT_EQ(asked(), "");
}

// The server's clock was set forward: the lease began before the message came.
TEST_F(SqlClient, APushedGrantBeganBeforeItsMessage) {
    const auto made = acquire(60s);
    queue(5'000'000);
    advance(2s);
    push("g owner 9 1800 9000000000000000");
    ASSERT_TRUE(made->granted);
    EXPECT_EQ(made->granted->deadline, time_.now() + 1800ms - drift(1800ms));
}

TEST_F(SqlClient, AMessageBeforeTheAnswerMakesTheWaiterLook) {
    const auto made = acquire(60s);
    push("g owner 9 1800 6000000");
    queue();
    ASSERT_EQ(asked(), "refresh");
    answer({{"g", "9", "1700"}});
    ASSERT_TRUE(made->granted);
    EXPECT_TRUE(made->granted->needs_renewal);
}

// Two releases send their messages after their commits, so the older message may come later.
TEST_F(SqlClient, ALateMessageTakesNoGrantBack) {
    const auto made = acquire(60s);
    queue();
    test_.present->handlers.on_message("g owner 9 1800 6000000");
    push("n owner 1800");
    EXPECT_TRUE(made->granted);
}

TEST_F(SqlClient, ANewFirstWaiterLooksAtTheEndOfTheLease) {
    const auto made = acquire(60s);
    answer({{"q", std::nullopt, "20000", "f", std::nullopt, "5000000"}});
    push("n owner 700");
    EXPECT_EQ(asked(), "");
    advance(700ms);
    ASSERT_EQ(asked(), "refresh");
    answer({{"g", "9", "30000"}});
    EXPECT_TRUE(made->granted);
}

TEST_F(SqlClient, ForgedMessagesDoNothing) {
    const auto made = acquire(60s);
    queue();
    for (const char* text :
         {"", "g", "g other 9 1800 6000000", "g owner 0 1800 6000000", "g owner 9 -5 6000000",
          "w other", "n other 5", "w", "l ", "l nothing", "\xFF\xFE x"})
        push(text);
    EXPECT_FALSE(made->is_over);
    EXPECT_EQ(asked(), "");
    push("w owner");
    ASSERT_EQ(asked(), "refresh");
    queue();
    EXPECT_FALSE(made->is_over);
}

TEST_F(SqlClient, AForcedReleaseIsConfirmed) {
    const auto made = acquire(60s);
    answer({{"g", "9", "30000"}});
    push("f owner it");
    ASSERT_EQ(asked(), "inspect");
    answer({{"it", "0", "0", "owner", "host 1 me", "0", "1", "9", "0", "30000"}});
    EXPECT_TRUE(lost_.empty());
    push("f owner it");
    answer({{"it", "0", "0", {}, {}, {}, {}, {}, {}, {}}});
    EXPECT_EQ(lost_, std::vector<std::string>{"owner"});
    push("f owner it");
    fail(error(errc::refused, "no rights"));
    EXPECT_EQ(possible_losses_, 1);
}

TEST_F(SqlClient, AFailedConnectNamesTheTimeOfTheNext) {
    test_.refusal = error(errc::unreachable, "Nobody answers.");
    const auto first = acquire(10s);
    ASSERT_TRUE(first->failure);
    EXPECT_EQ(first->failure->reason(), errc::unreachable);
    EXPECT_GT(first->failure->retry_at(), time_.now());
    EXPECT_EQ(backend_->unreachable_reason("it"), "Nobody answers.");
    const auto second = acquire(10s, "second");
    EXPECT_TRUE(second->failure);
    EXPECT_EQ(test_.connects, 1u);
    advance(1s);
    test_.refusal.reset();
    acquire(10s, "third");
    EXPECT_EQ(test_.connects, 2u);
    ASSERT_EQ(asked(), "acquire");
    EXPECT_EQ(backend_->unreachable_reason("it"), "");
    answer({{"g", "9", "30000"}});
}

TEST_F(SqlClient, ALastingFailureIsNotTransient) {
    test_.refusal = error(errc::refused, "wrong password");
    const auto made = acquire(10s);
    ASSERT_TRUE(made->failure);
    EXPECT_EQ(made->failure->reason(), errc::refused);
    EXPECT_FALSE(made->failure->is_transient());
}

TEST_F(SqlClient, AWaiterThatGivesUpLeavesAndMayGetTheLockThen) {
    const auto made = acquire(5s);
    queue();
    advance(5s);
    ASSERT_EQ(asked(), "refresh");
    queue();
    ASSERT_EQ(asked(), "leave");
    EXPECT_EQ(test_.calls.front()->number(6), 1);
    answer({{"g", "11", "1500", "t"}});
    EXPECT_TRUE(made->granted);
}

TEST_F(SqlClient, CloseWaitsForUndosUntilItsLimit) {
    acquire(0s);
    advance(1s);
    ASSERT_EQ(asked(), "leave");
    const auto closed = close(time_.now() + 3s);
    EXPECT_FALSE(*closed);
    answer({{"e", std::nullopt, std::nullopt, "t"}});
    EXPECT_TRUE(*closed);
    EXPECT_EQ(test_.closed, 1u);
    const auto late = acquire(10s, "late");
    ASSERT_TRUE(late->failure);
    EXPECT_EQ(late->failure->reason(), errc::cancelled);
}

TEST_F(SqlClient, CloseGivesUpAtItsLimit) {
    acquire(0s);
    advance(1s);
    const auto closed = close(time_.now() + 300ms);
    advance(300ms);
    EXPECT_TRUE(*closed);
    EXPECT_EQ(test_.closed, 1u);
}

}  // namespace
}  // namespace pawl::sql
