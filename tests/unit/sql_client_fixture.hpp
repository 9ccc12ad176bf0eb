// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A client of a database whose sessions answer when the test says so.
#pragma once

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
#include <utility>
#include <vector>

namespace pawl::sql {

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
    bool is_listening = true;
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
    bool is_listening() const noexcept override { return test_.is_listening; }
    void listen() override { test_.is_listening = true; }
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
        advance(600s);  // no test waits for longer
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
    // Until there is a call. Returns the time that it took.
    duration advance_until_asked() {
        duration passed{};
        for (; asked().empty() && passed < 60s; passed += 50ms)
            advance(50ms);
        return passed;
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

}  // namespace pawl::sql
