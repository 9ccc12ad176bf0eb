// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Programs that run out of threads or descriptors: a grant that cannot be kept is not left behind,
// and the error says why.
#include "async_fixture.hpp"

#include <support/child.hpp>
#include <support/eventually.hpp>

#include <pawl/blocking.hpp>

#include <gtest/gtest.h>

#include <fstream>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

class Shortage : public testing::TestWithParam<tested::service_under_test> {
protected:
    pawl::service tested_service = GetParam().make_service();
};

std::string describe_failure(const pawl::error& failure) {
    return failure.reason() == pawl::errc::exhausted ? "exhausted" : failure.what();
}

// Acquires a lock, keeps it, releases it, acquires it again and waits until it is lost.
std::string result_of_every_operation(pawl::blocking::client& locks) {
    auto lock = locks.acquire("it", {.ttl = 60s});
    lock.renew();
    if (lock.release() != pawl::release_result::released) return "not released";
    const auto lost = locks.acquire("it", {.ttl = 60s, .max_hold = 50ms});
    std::promise<void> loss_promise;
    const std::stop_callback on_loss(lost.lost(), [&] { loss_promise.set_value(); });
    loss_promise.get_future().wait();
    const bool free = support::eventually([&] { return !locks.inspect("it").held_by; });
    return free ? "free" : "still held";
}

// The undefined-behaviour sanitizer checks each kind of object once, and needs descriptors for
// that. So another client, a file that cannot be opened and an error of Asio come before the
// descriptors run out.
std::string let_the_sanitizer_see(const pawl::service& tested_service) {
    if (std::ifstream("/nonexistent")) return "a file that is not there";
    try {
        asio::detail::throw_error(asio::error::bad_descriptor, "an attempt");
    } catch (const boost::system::system_error& failure) {
        if (describe_failure({pawl::errc::exhausted, failure.what()}) != "exhausted")
            return "another error";
    }
    pawl::blocking::client locks(tested_service);
    return result_of_every_operation(locks);
}

// The client has all that a lock needs: without another descriptor the lock is granted, kept,
// released, and its loss is reported.
TEST_P(Shortage, AClientThatHasConnectedNeedsNoMoreDescriptors) {
    const auto result = support::run_in_child([this] {
        if (const auto before = let_the_sanitizer_see(tested_service); before != "free")
            return before;
        pawl::blocking::client locks(tested_service);
        (void)locks.inspect("it");
        support::forbid_descriptors();
        return result_of_every_operation(locks);
    });
    EXPECT_EQ(result, "free");
}

TEST_P(Shortage, AClientThatHasConnectedNeedsNoMoreThreads) {
    const auto result = support::run_in_child([this] {
        pawl::blocking::client locks(tested_service);
        (void)locks.inspect("it");
        support::forbid_threads();
        // Long enough for the first renewal of a busy machine, or the lease would end before.
        const auto lost = locks.acquire("it", {.ttl = 60s, .max_hold = 1s});
        std::promise<void> loss_promise;
        const std::stop_callback on_loss(lost.lost(), [&] { loss_promise.set_value(); });
        loss_promise.get_future().wait();
        return std::string(to_string(lost.why_lost()));
    });
    EXPECT_EQ(result, to_string(pawl::loss_reason::max_hold));
}

TEST_P(Shortage, AClientThatCannotHaveItsThreadsSaysSoAndLeavesTheSignalsAlone) {
    const auto result = support::run_in_child([this] {
        support::forbid_threads();
        const auto before = support::blocked_signals();
        try {
            const pawl::blocking::client locks(tested_service);
        } catch (const pawl::error& failure) {
            const auto after = support::blocked_signals();
            return after == before ? describe_failure(failure) : "now blocked: " + after;
        }
        return std::string("no error");
    });
    EXPECT_EQ(result, "exhausted");
}

TEST_P(Shortage, AClientThatCannotHaveItsDescriptorsSaysSo) {
    const auto result = support::run_in_child([this] {
        if (const auto before = let_the_sanitizer_see(tested_service); before != "free")
            return before;
        support::forbid_descriptors();
        try {
            const pawl::blocking::client locks(tested_service);
        } catch (const pawl::error& failure) {
            return describe_failure(failure);
        }
        return std::string("no error");
    });
    EXPECT_EQ(result, "exhausted");
}

TEST_P(Shortage, AnEventLoopsClientSaysSoToo) {
    const auto result = support::run_in_child([this] {
        asio::io_context loop;
        support::forbid_threads();
        const auto before = support::blocked_signals();
        try {
            const pawl::client locks(loop.get_executor(), tested_service);
        } catch (const pawl::error& failure) {
            const auto after = support::blocked_signals();
            return after == before ? describe_failure(failure) : "now blocked: " + after;
        }
        return std::string("no error");
    });
    EXPECT_EQ(result, "exhausted");
}

INSTANTIATE_TEST_SUITE_P(Backend, Shortage, testing::ValuesIn(tested::async_services()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
