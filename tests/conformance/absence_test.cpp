// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The error of a wait that ends while the service is away.
#include "support/idle_backend.hpp"

#include <pawl/blocking.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Grants nothing, and reports that the service is away.
class absent_backend final : public support::idle_backend {
public:
    explicit absent_backend(std::string reason) : reason_(std::move(reason)) {}

    std::string unreachable_reason(std::string_view) const override { return reason_; }

private:
    const std::string reason_;
};

class absent_service final : public pawl::service::definition {
public:
    explicit absent_service(std::string reason) : reason_(std::move(reason)) {}
    std::unique_ptr<pawl::spi::backend> open(pawl::spi::backend_context) const override {
        return std::make_unique<absent_backend>(reason_);
    }
    std::string describe() const override { return "away"; }

private:
    const std::string reason_;
};

std::string sentence_for(const std::string& reason) {
    pawl::blocking::client locks(pawl::service(std::make_shared<absent_service>(reason)));
    try {
        (void)locks.acquire("it", {.ttl = 1s, .wait = 0s});
    } catch (const pawl::error& failed) {
        EXPECT_EQ(failed.reason(), pawl::errc::unreachable);
        return failed.what();
    }
    return "no error";
}

const std::string begins =
    "The lock 'it' was not acquired in one attempt, and the service is away: ";

TEST(Absence, OfABrokenConnectionIsGivenAdvice) {
    EXPECT_EQ(sentence_for("redis://there: Connection refused"),
              begins +
                  "redis://there: Connection refused; check that the service runs there "
                  "and that the URL is right.");
}

TEST(Absence, ThatTheServiceItselfExplainsHasItsOwn) {
    const std::string message =
        "redis://there: the server says \"LOADING\"; the server is loading its data; try again "
        "soon.";
    EXPECT_EQ(sentence_for(message), begins + message);
}

}  // namespace
