// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Errors that a wait survives, in contrast to those that end it.
#include "core/util/spi.hpp"

#include <pawl/blocking.hpp>
#include <pawl/service.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pawl {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Fails twice with this code; then every lock is free.
class failing_backend final : public backend {
public:
    failing_backend(runtime& time, errc reason) : time_(time), reason_(reason) {}

    asio::awaitable<std::optional<grant>> acquire(const claim& requested, time_point) override {
        if (failures_++ < 2) throw error(reason_, "It fails.");
        grant granted{.deadline = time_.now() + requested.ttl - drift(requested.ttl),
                      .token = fencing_token(1),
                      .stored_value = requested.value};
        co_return granted;
    }
    asio::awaitable<void> renew(renewal_batch&) override { co_return; }
    asio::awaitable<release_result> release(const hold&) override {
        co_return release_result::released;
    }
    asio::awaitable<lock_info> inspect(std::string_view) override { co_return lock_info{}; }
    asio::awaitable<std::vector<lock_info>> list(std::string_view) override {
        co_return std::vector<lock_info>{};
    }
    asio::awaitable<bool> force_release(std::string_view, fencing_token) override {
        co_return false;
    }
    asio::awaitable<examination> examine() override { co_return examination{}; }
    asio::awaitable<void> close(time_point) override { co_return; }
    pawl::spi::capabilities capabilities() const noexcept override {
        pawl::spi::capabilities all;
        all.caller_values = true;
        return all;
    }

private:
    runtime& time_;
    const errc reason_;
    int failures_ = 0;
};

class failing_definition final : public service::definition {
public:
    explicit failing_definition(errc reason) : reason_(reason) {}
    std::unique_ptr<backend> open(backend_context context) const override {
        return std::make_unique<failing_backend>(*context.time, reason_);
    }
    std::string describe() const override { return "failing"; }

private:
    const errc reason_;
};

std::optional<errc> failure_of_wait(errc reason, duration wait) {
    blocking::client locks(service(std::make_shared<failing_definition>(reason)));
    try {
        (void)locks.acquire_as("it", "ticket", {.ttl = 60s, .wait = wait});
    } catch (const error& failure) {
        return failure.reason();
    }
    return std::nullopt;
}

TEST(TransientErrors, DoNotEndAWait) {
    for (const auto reason :
         {errc::unreachable, errc::unavailable, errc::no_quorum, errc::no_set}) {
        EXPECT_EQ(failure_of_wait(reason, 30s), std::nullopt) << make_error_code(reason).message();
        EXPECT_EQ(failure_of_wait(reason, 0s), reason);
    }
    for (const auto reason : {errc::refused, errc::wrong_type, errc::protocol, errc::other_set})
        EXPECT_EQ(failure_of_wait(reason, 30s), reason);
}

TEST(TransientErrors, OfAQuorumHaveATextAndACondition) {
    const auto code = make_error_code(errc::no_quorum);
    EXPECT_EQ(code.message(), "fewer than a majority of the lock servers agreed");
    EXPECT_EQ(code, std::errc::resource_unavailable_try_again);
    EXPECT_EQ(make_error_code(errc::no_set), std::errc::resource_unavailable_try_again);
    EXPECT_EQ(make_error_code(errc::other_set), std::errc::invalid_argument);
}

}  // namespace
}  // namespace pawl
