// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Answers that Consul gives rarely, or never: each is one sentence, and nothing is believed.
#include <support/http_server.hpp>

#include <pawl/blocking.hpp>
#include <pawl/consul.hpp>
#include <pawl/error.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>

namespace {

using namespace std::chrono_literals;
using support::http_answer;
using support::http_request;
using support::http_server;

struct failure {
    pawl::errc reason{};
    std::string message{};
};

failure failure_of(const http_server& server) {
    const auto url = "consul://:secret@127.0.0.1:" + std::to_string(server.port());
    pawl::blocking::client locks(pawl::consul::at(url), {.drain = 100ms, .try_limit = 5s});
    try {
        (void)locks.try_acquire("it", {.ttl = 10s});
    } catch (const pawl::error& failed) {
        return {failed.reason(), failed.what()};
    }
    return {};
}

void expect_failure(const std::string& answer, pawl::errc reason, const std::string& part) {
    const http_server server([&](const http_request&) { return answer; });
    const auto failed = failure_of(server);
    EXPECT_EQ(failed.reason, reason) << failed.message;
    EXPECT_NE(failed.message.find(part), std::string::npos) << failed.message;
    EXPECT_EQ(failed.message.find("secret"), std::string::npos) << failed.message;
}

TEST(ConsulAnswers, EachHasASentence) {
    using pawl::errc;
    expect_failure(http_answer(500, "No cluster leader"), errc::unavailable, "No cluster leader");
    expect_failure(http_answer(500, "rpc error: EOF"), errc::unreachable, "rpc error: EOF");
    expect_failure(http_answer(503, ""), errc::unavailable, "answers 503");
    expect_failure(http_answer(429, "", "Retry-After: 3\r\n"), errc::unavailable, "too many");
    expect_failure(http_answer(403, "Permission denied"), errc::refused, "denies the permission");
    expect_failure(http_answer(403, "ACL not found"), errc::refused, "does not know the token");
    expect_failure(http_answer(404, "404 page not found"), errc::protocol, "Consul's HTTP port");
    expect_failure(http_answer(301, ""), errc::protocol, "answers 301");
    expect_failure(http_answer(200, "<html>"), errc::protocol, "does not understand");
    expect_failure(http_answer(200, "{}"), errc::protocol, "does not understand");
    expect_failure(http_answer(400, "Client sent an HTTP request to an HTTPS server."),
                   errc::protocol, "write consuls in place of consul");
}

// A session that Consul ends at once is not made again for ever.
TEST(ConsulAnswers, SessionsThatEndAtOnceHaveABound) {
    std::atomic<int> sessions = 0;
    const http_server server([&](const http_request& received) {
        if (received.target == "/v1/session/create") {
            ++sessions;
            return http_answer(200, R"({"ID":"aaaaaaaa-e495-42ae-36ce-9585795c752a"})");
        }
        const bool is_guard = received.body.find("\"cas\"") == std::string::npos;
        if (is_guard)
            return http_answer(200, R"({"Results":[{"KV":{"Key":"g","ModifyIndex":7}}]})");
        return http_answer(
            409, R"({"Results":null,"Errors":[{"OpIndex":2,"What":"invalid session \"a\""}]})");
    });
    const auto failed = failure_of(server);
    EXPECT_EQ(failed.reason, pawl::errc::unavailable) << failed.message;
    EXPECT_LE(sessions, 5);
}

// Another index than before is that of another cluster, or of older data.
TEST(ConsulAnswers, AnIndexThatGoesBackIsRefused) {
    std::atomic<int> index = 100;
    const http_server server([&](const http_request& received) {
        if (received.target == "/v1/session/create")
            return http_answer(200, R"({"ID":"aaaaaaaa-e495-42ae-36ce-9585795c752a"})");
        const auto number = std::to_string(index.load());
        return http_answer(200, R"({"Results":[{"KV":{"Key":"k","ModifyIndex":)" + number + "}}]}");
    });
    const auto url = "consul://127.0.0.1:" + std::to_string(server.port());
    pawl::blocking::client locks(pawl::consul::at(url), {.drain = 100ms, .try_limit = 5s});
    const auto held = locks.try_acquire("first", {.ttl = 60s});
    EXPECT_EQ(held.token().value(), 100U);
    index = 50;
    try {
        (void)locks.try_acquire("second", {.ttl = 60s});
        ADD_FAILURE() << "a smaller token was issued";
    } catch (const pawl::error& failed) {
        EXPECT_EQ(failed.reason(), pawl::errc::refused) << failed.what();
    }
}

}  // namespace
