// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How the core repeats the attempts of an acquire, in virtual time: its pauses, its owners, and
// what ends it.
#include <support/idle_backend.hpp>
#include "core/util/spi.hpp"

#include <pawl/client.hpp>
#include <pawl/service.hpp>
#include <pawl/testing.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pawl {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

// What the attempts find, one after the other; later ones are granted.
struct script {
    std::deque<std::optional<error>> failures;  // nothing: the lock is taken
    bool hands_over = true;
    duration each_takes{};

    struct attempt {
        duration began;  // since the acquire
        std::string owner;
        bool was_taken;
    };
    std::vector<attempt> attempts;
    std::vector<std::string> log;
};

class scripted_backend final : public support::idle_backend {
public:
    scripted_backend(script& course, const backend_context& context)
        : script_(course), time_(*context.time), strand_(context.strand), began_(time_.now()) {}

    asio::awaitable<std::optional<grant>> acquire(const claim& requested, time_point) override {
        script_.attempts.push_back({time_.now() - began_, requested.owner, requested.was_taken});
        if (script_.each_takes > 0s) {
            const auto timer = time_.make_timer(strand_);
            const auto begin = [&timer, when = time_.now() + script_.each_takes](auto handler) {
                timer->async_wait_until(when, std::move(handler));
            };
            co_await asio::async_initiate<const asio::use_awaitable_t<>, void(error_code)>(
                begin, asio::use_awaitable);
        }
        grant granted;
        granted.deadline = time_.now() + requested.ttl - drift(requested.ttl);
        granted.token = fencing_token(1);
        if (script_.failures.empty()) co_return granted;
        const auto next = script_.failures.front();
        script_.failures.pop_front();
        if (next) throw error(*next);
        co_return std::nullopt;
    }
    [[nodiscard]] pawl::spi::capabilities capabilities() const noexcept override {
        pawl::spi::capabilities supported;
        supported.hands_over = script_.hands_over;
        return supported;
    }

private:
    script& script_;
    runtime& time_;
    const asio::any_io_executor strand_;
    const time_point began_;
};

class scripted_definition final : public service::definition {
public:
    explicit scripted_definition(script& course) : script_(course) {}
    std::unique_ptr<backend> open(backend_context context) const override {
        return std::make_unique<scripted_backend>(script_, context);
    }
    std::string describe() const override { return "scripted"; }

private:
    script& script_;
};

class Repetition : public ::testing::Test {
protected:
    // Acquires with this wait, and returns why that failed.
    error_code acquire(duration wait) {
        asio::io_context loop;
        client_options options;
        options.time = clock.time();
        options.log = [this](std::string_view line) { course.log.emplace_back(line); };
        client locks(loop.get_executor(), service(std::make_shared<scripted_definition>(course)),
                     options);
        std::optional<error_code> result;
        locks.async_acquire("it", {.ttl = 60s, .wait = wait},
                            [&](error_code ec, const held_lock&) { result = ec; });
        loop.poll();
        for (int i = 0; i < 100'000 && !result; ++i) {
            clock.advance(1ms);
            loop.restart();
            loop.poll();
        }
        return result.value_or(make_error_code(errc::protocol));
    }
    // From the end of one attempt to the next one.
    [[nodiscard]] std::vector<duration> pauses() const {
        std::vector<duration> found;
        for (std::size_t i = 1; i < course.attempts.size(); ++i)
            found.push_back(course.attempts[i].began - course.attempts[i - 1].began -
                            course.each_takes);
        return found;
    }

    testing::manual_clock clock;
    script course;
};

error unreachable() { return {errc::unreachable, "It is away."}; }

TEST_F(Repetition, EachAttemptHasAnOwnerOfItsOwn) {
    course.failures = {unreachable(), std::nullopt, unreachable(), std::nullopt};
    EXPECT_FALSE(acquire(60s));
    std::set<std::string> owners;
    for (const auto& each : course.attempts)
        owners.insert(each.owner);
    EXPECT_EQ(owners.size(), 5U);
    EXPECT_EQ(owners.begin()->size(), 32U);
}

TEST_F(Repetition, TellsTheBackendThatTheLockWasTaken) {
    course.failures = {unreachable(), std::nullopt, unreachable()};
    EXPECT_FALSE(acquire(60s));
    std::vector<bool> was_taken;
    for (const auto& each : course.attempts)
        was_taken.push_back(each.was_taken);
    EXPECT_EQ(was_taken, (std::vector{false, false, true, true}));
}

// An outage of the service is longer than any pause: the pauses grow up to 2 s, and the log has a
// line a minute.
TEST_F(Repetition, PausesGrowWhileTheServiceIsAway) {
    course.failures.assign(40, unreachable());
    EXPECT_FALSE(acquire(forever));
    auto step = 100ms;
    for (const auto pause : pauses()) {
        EXPECT_GE(pause, step / 2);
        EXPECT_LE(pause, step + 1ms);
        step = std::min(2 * step, 2000ms);
    }
    ASSERT_GE(course.log.size(), 1U);
    EXPECT_EQ(course.log.front(), "Waiting for the service: It is away.");
    EXPECT_EQ(course.log.size(), 1 + static_cast<std::size_t>(course.attempts.back().began / 60s));
}

TEST_F(Repetition, AServiceThatWasThereForAWhileBeginsANewOutage) {
    course.each_takes = 3s;
    course.failures.assign(10, unreachable());
    EXPECT_FALSE(acquire(forever));
    for (const auto pause : pauses())
        EXPECT_LE(pause, 101ms);
}

TEST_F(Repetition, WaitsUntilTheServiceSaysThatItIsUseful) {
    course.failures = {error(errc::no_quorum, "It is in quarantine.", true, clock.now() + 7s)};
    EXPECT_FALSE(acquire(60s));
    EXPECT_GE(course.attempts.at(1).began, 7s);
    EXPECT_LE(course.attempts.at(1).began, 7s + 1ms);
}

// The time at which another request is useful may be after the end of the wait.
TEST_F(Repetition, NeverPausesBeyondTheWait) {
    course.failures.assign(2,
                           error(errc::no_quorum, "It is in quarantine.", true, time_point::max()));
    EXPECT_EQ(acquire(5s), make_error_code(errc::no_quorum));
    EXPECT_EQ(course.attempts.size(), 2U) << "one more attempt at the end of the wait";
}

TEST_F(Repetition, IsAtOnceIfTheServiceHasAQueue) {
    course.failures = {std::nullopt};
    EXPECT_FALSE(acquire(60s));
    EXPECT_EQ(course.attempts.at(1).began, 0s);
}

TEST_F(Repetition, PollsAServiceWithoutAQueue) {
    course.hands_over = false;
    course.failures.assign(30, std::nullopt);
    EXPECT_FALSE(acquire(forever));
    auto step = 10ms;
    for (const auto pause : pauses()) {
        EXPECT_GE(pause, step / 2);
        EXPECT_LE(pause, step + 1ms);
        step = std::min(2 * step, 200ms);
    }
    EXPECT_TRUE(course.log.empty());
}

TEST_F(Repetition, EndsWithTheWait) {
    course.hands_over = false;
    course.failures.assign(1000, std::nullopt);
    EXPECT_EQ(acquire(2s), make_error_code(errc::timed_out));
    EXPECT_LE(course.attempts.size(), 30U);
}

TEST_F(Repetition, EndsWithAnErrorThatLasts) {
    course.failures = {unreachable(), error(errc::refused, "The password is wrong.")};
    EXPECT_EQ(acquire(60s), make_error_code(errc::refused));
    EXPECT_EQ(course.attempts.size(), 2U);
}

// A backend can tell a damaged file from a busy one; the code is the same.
TEST_F(Repetition, EndsIfTheBackendSaysThatItIsUseless) {
    course.failures = {error(errc::unavailable, "The file is damaged.", false)};
    EXPECT_EQ(acquire(60s), make_error_code(errc::unavailable));
    EXPECT_EQ(course.attempts.size(), 1U);
}

TEST_F(Repetition, OfATryIsNone) {
    course.failures = {unreachable()};
    EXPECT_EQ(acquire(0s), make_error_code(errc::unreachable));
    EXPECT_EQ(course.attempts.size(), 1U);
}

}  // namespace
}  // namespace pawl
