// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What becomes of a handler's answer: its status decides whether it is stored, and what belongs to
// one connection or one moment is left out.
#include <pawl/guard/beast.hpp>

#include <gtest/gtest.h>

#include <variant>

namespace {

namespace guard = pawl::guard;
using boost::beast::http::field;

// The outcome of the work of `once` for a status.
guard::outcome outcome_of(unsigned status) {
    guard::outcome result;
    const auto store = [&](const guard::once_key&, const guard::once_work& work) {
        result = work({"", "a", pawl::fencing_token(1), 1, pawl::time_point::max()});
        return guard::once_result();
    };
    const guard::idempotent_request request{.method = "POST", .key_header = "a"};
    (void)guard::idempotent(request, {}, store, [status](const guard::attempt&) {
        return guard::http_answer{.status = status};
    });
    return result;
}

TEST(HandledAnswers, AreStoredByTheirStatus) {
    for (const unsigned status : {200U, 201U, 204U, 304U, 399U})
        EXPECT_TRUE(std::holds_alternative<std::string>(outcome_of(status))) << status;
    for (const unsigned status : {400U, 402U, 404U, 409U, 422U, 499U})
        EXPECT_TRUE(std::holds_alternative<guard::rejected>(outcome_of(status))) << status;
    for (const unsigned status : {408U, 425U, 429U, 500U, 503U, 599U})
        EXPECT_TRUE(std::holds_alternative<guard::retry_after>(outcome_of(status))) << status;
}

TEST(HandledAnswers, LeaveOutWhatBelongsToOneConnection) {
    guard::beast_response response(boost::beast::http::status::created, 11, "paid");
    for (const auto each :
         {field::connection, field::keep_alive, field::transfer_encoding, field::content_length,
          field::upgrade, field::trailer, field::date, field::set_cookie})
        response.set(each, "1");
    response.insert("X-Part", "a");
    response.insert("X-Part", "b");
    const auto answer = guard::to_answer(response);
    EXPECT_EQ(answer.status, 201U);
    EXPECT_EQ(answer.body, "paid");
    const std::vector<std::pair<std::string, std::string>> kept{{"X-Part", "a"}, {"X-Part", "b"}};
    EXPECT_EQ(answer.headers, kept);
}

TEST(HandledAnswers, JoinTheKeysOfSeveralHeaders) {
    guard::beast_request request(boost::beast::http::verb::post, "/payments?a=1", 11);
    EXPECT_EQ(guard::to_idempotent(request, "anna", "/payments").key_header, std::nullopt);
    request.insert("Idempotency-Key", "a");
    request.insert("idempotency-key", "b");
    const auto parts = guard::to_idempotent(request, "anna", "/payments");
    EXPECT_EQ(parts.key_header, "a, b");
    EXPECT_EQ(parts.method, "POST");
    EXPECT_EQ(parts.target, "/payments?a=1");
}

}  // namespace
