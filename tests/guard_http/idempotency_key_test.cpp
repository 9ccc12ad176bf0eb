// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "payment_server.hpp"

#include <pawl/error.hpp>
#include <pawl/guard/idempotency_key.hpp>
#include <support/eventually.hpp>

#include <gtest/gtest.h>

#include <future>

namespace {

using namespace guard_tests;
using namespace std::chrono_literals;
using boost::beast::http::field;
using guard::parse_idempotency_key;

TEST(IdempotencyKey, IsQuotedOrBare) {
    EXPECT_EQ(parse_idempotency_key("8e03978e-40d5"), "8e03978e-40d5");
    EXPECT_EQ(parse_idempotency_key("\"8e03978e-40d5\""), "8e03978e-40d5");
    EXPECT_EQ(parse_idempotency_key(" \t8e03978e \t"), "8e03978e");
    EXPECT_EQ(parse_idempotency_key(R"("a \"b\" \\ c, d")"), R"(a "b" \ c, d)");
    EXPECT_EQ(parse_idempotency_key("a+b/c=="), "a+b/c==");
    EXPECT_EQ(parse_idempotency_key(std::string(255, 'k')), std::string(255, 'k'));
    const std::vector<std::string> wrong_keys{
        "",      " ",       "\"\"",    "a b",  "a, b",      "\"a\", \"b\"", "\"a",
        "\"a\\", "\"\\a\"", "\"a\";b", "a\"b", "\"a\x01\"", "\xc3\xa9",     std::string(256, 'k')};
    for (const std::string& wrong : wrong_keys)
        EXPECT_EQ(parse_idempotency_key(wrong), std::nullopt) << wrong;
}

class Payments : public testing::Test {
protected:
    static header_list keyed(const std::string& key) { return {{"Idempotency-Key", key}}; }
    [[nodiscard]] static bool is_replay(const beast_response& response) {
        return response["Idempotent-Replayed"] == "true";
    }
    [[nodiscard]] static std::string code(const beast_response& response) {
        EXPECT_EQ(response[field::content_type], "application/problem+json");
        const std::string begin = "\"code\":\"";
        const auto at = response.body().find(begin);
        if (at == std::string::npos) return response.body();
        const auto from = at + begin.size();
        return response.body().substr(from, response.body().find('"', from) - from);
    }

    payment_server server;
    http_client client{server.port()};
};

TEST_F(Payments, RunOnceAndAreReplayed) {
    const auto first = client.post("pay", keyed("a"));
    EXPECT_EQ(first.result_int(), 201U);
    EXPECT_FALSE(is_replay(first));
    const auto second = client.post("pay", keyed("\"a\""));
    EXPECT_EQ(second.result_int(), 201U);
    EXPECT_TRUE(is_replay(second));
    EXPECT_EQ(second.body(), first.body());
    EXPECT_EQ(second[field::location], first[field::location]);
    EXPECT_EQ(second[field::content_type], "text/plain");
    EXPECT_EQ(second.count(field::date), 0U);
    EXPECT_EQ(server.bank().count(), 1);
    EXPECT_EQ(server.bank().calls, 1);
}

TEST_F(Payments, NeedAKey) {
    const auto missing = client.post("pay", {});
    EXPECT_EQ(missing.result_int(), 400U);
    EXPECT_EQ(code(missing), "idempotency_key_missing");
    for (const std::string wrong : {"", "a b", "\"a"}) {
        const auto invalid = client.post("pay", keyed(wrong));
        EXPECT_EQ(invalid.result_int(), 400U);
        EXPECT_EQ(code(invalid), "idempotency_key_invalid");
    }
    const auto doubled = client.post("pay", {{"Idempotency-Key", "a"}, {"Idempotency-Key", "b"}});
    EXPECT_EQ(code(doubled), "idempotency_key_invalid");
    EXPECT_EQ(server.bank().calls, 0);
}

TEST_F(Payments, RefuseAnotherRequestUnderTheSameKey) {
    (void)client.post("pay", keyed("a"));
    const auto other_body = client.post("refuse", keyed("a"));
    EXPECT_EQ(other_body.result_int(), 422U);
    EXPECT_EQ(code(other_body), "idempotency_key_reused");
    EXPECT_EQ(client.post("pay", keyed("a"), "/payments?twice").result_int(), 422U);
    EXPECT_EQ(server.bank().count(), 1);
}

TEST_F(Payments, OfTwoAccountsHaveKeysOfTheirOwn) {
    const std::string long_name(300, 'n');
    const std::vector<std::string> accounts{"anna", "bert", long_name + "1", long_name + "2"};
    for (const std::string& account : accounts)
        EXPECT_FALSE(is_replay(client.post("pay", keyed("a"), "/payments", account)));
    EXPECT_TRUE(is_replay(client.post("pay", keyed("a"), "/payments", long_name + "2")));
    EXPECT_EQ(server.bank().count(), 4);
}

TEST_F(Payments, ThatAreRefusedAreRolledBackAndReplayed) {
    const auto first = client.post("refuse", keyed("a"));
    EXPECT_EQ(first.result_int(), 402U);
    EXPECT_FALSE(is_replay(first));
    const auto second = client.post("refuse", keyed("a"));
    EXPECT_EQ(second.result_int(), 402U);
    EXPECT_TRUE(is_replay(second));
    EXPECT_EQ(second.body(), first.body());
    EXPECT_EQ(server.bank().count(), 0);
    EXPECT_EQ(server.bank().calls, 1);
}

TEST_F(Payments, ThatFailForNowAreRepeated) {
    for (const auto& [body, status] : {std::pair("busy", 503U), std::pair("later", 429U)}) {
        const auto calls = server.bank().calls.load();
        for (int i = 1; i <= 2; ++i) {
            const auto response = client.post(body, keyed(body));
            EXPECT_EQ(response.result_int(), status);
            EXPECT_FALSE(is_replay(response));
            EXPECT_EQ(server.bank().calls, calls + i);
        }
    }
    EXPECT_EQ(client.post("throw", keyed("t")).body(), "the handler throws");
    EXPECT_EQ(client.post("throw", keyed("t")).body(), "the handler throws");
    EXPECT_EQ(server.bank().count(), 0);
}

TEST_F(Payments, FailForGoodAfterTheirAttempts) {
    for (int i = 0; i < 5; ++i)
        EXPECT_EQ(client.post("busy", keyed("a")).result_int(), 503U);
    const auto failed = client.post("busy", keyed("a"));
    EXPECT_EQ(failed.result_int(), 500U);
    EXPECT_EQ(code(failed), "operation_failed");
    EXPECT_TRUE(is_replay(failed));
    EXPECT_EQ(server.bank().calls, 5);
}

TEST_F(Payments, WithTooLargeAnswersDoNothing) {
    const auto large = client.post("large", keyed("a"));
    EXPECT_EQ(large.result_int(), 500U);
    EXPECT_EQ(code(large), "answer_too_large");
    EXPECT_EQ(server.bank().count(), 0);
}

TEST_F(Payments, ThatStillRunAreAConflict) {
    auto first = std::async(std::launch::async,
                            [&] { return http_client(server.port()).post("wait", keyed("a")); });
    ASSERT_TRUE(support::eventually([&] { return server.bank().calls == 1; }));
    const auto second = client.post("wait", keyed("a"));
    EXPECT_EQ(second.result_int(), 409U);
    EXPECT_EQ(code(second), "request_in_progress");
    const auto seconds = std::stoi(std::string(second[field::retry_after]));
    EXPECT_GE(seconds, 1);
    EXPECT_LE(seconds, 30);
    server.bank().may_go_on = true;
    const auto answer = first.get();
    EXPECT_EQ(answer.result_int(), 201U);
    EXPECT_TRUE(is_replay(client.post("wait", keyed("a"))));
    EXPECT_EQ(server.bank().count(), 1);
}

TEST(PaymentsWithoutARequiredKey, RunEachTimeWithoutAKey) {
    payment_server server({.is_required = false});
    http_client client(server.port());
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(client.post("pay", {}).result_int(), 201U);
    EXPECT_EQ(client.post("pay", {{"Idempotency-Key", "a"}}).result_int(), 201U);
    EXPECT_EQ(client.post("pay", {{"Idempotency-Key", "a"}}).result_int(), 201U);
    EXPECT_EQ(server.bank().count(), 3);
}

// A store that kept no result, or something else.
TEST(IdempotentAnswers, ThatWereNotKeptAreAnError) {
    const guard::idempotent_request request{.method = "POST", .key_header = "a"};
    const auto answer_of = [&](const guard::once_result& result) {
        return guard::idempotent(
            request, {}, [&](const auto&, const auto&) { return result; },
            [](const guard::attempt&) { return guard::http_answer(); });
    };
    for (const std::string kept :
         {"", "HTTP x\n\n", "HTTP 200\nno colon\n\n", "HTTP 200\na: b\n"}) {
        const auto answer = answer_of({.state = guard::once_state::replayed, .value = kept});
        EXPECT_EQ(answer.status, 500U);
        EXPECT_NE(answer.body.find("answer_not_kept"), std::string::npos);
    }
    const auto answer =
        answer_of({.state = guard::once_state::replayed, .value = "HTTP 200\na: b: c\n\nb\n\nc"});
    EXPECT_EQ(answer.status, 200U);
    EXPECT_EQ(answer.headers.front(), std::pair(std::string("a"), std::string("b: c")));
    EXPECT_EQ(answer.body, "b\n\nc");
}

TEST(IdempotentAnswers, RefuseBrokenHeaders) {
    const guard::idempotent_request request{.method = "POST", .key_header = "a"};
    const auto once_without_store = [](const guard::once_key& key, const guard::once_work& work) {
        (void)work({"", key.key, pawl::fencing_token(1), 1, pawl::time_point::max()});
        return guard::once_result();
    };
    const auto broken = [](const guard::attempt&) {
        return guard::http_answer{.headers = {{"X", "a\r\nSet-Cookie: b"}}};
    };
    EXPECT_THROW((void)guard::idempotent(request, {}, once_without_store, broken), pawl::error);
}

}  // namespace
