// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The field Fencing-Token and its problem responses.
#include <pawl/error.hpp>
#include <pawl/guard/fencing_header.hpp>

#include <gmock/gmock.h>

#include <cstdint>
#include <optional>
#include <string>

namespace {

using pawl::fencing_token;
using pawl::guard::bad_token_problem;
using pawl::guard::format_fencing_token;
using pawl::guard::parse_fencing_token;
using testing::HasSubstr;

constexpr std::uint64_t largest = 9223372036854775807;

TEST(FencingHeader, RoundsNoToken) {
    for (const std::uint64_t number : {std::uint64_t{1}, (std::uint64_t{1} << 53) + 1, largest}) {
        const fencing_token token(number);
        EXPECT_EQ(format_fencing_token(token), '"' + std::to_string(number) + '"');
        EXPECT_EQ(parse_fencing_token(format_fencing_token(token)), token);
    }
    EXPECT_EQ(parse_fencing_token("  \"7\" "), fencing_token(7));
}

TEST(FencingHeader, IsAStringWithATokenAndNothingElse) {
    for (const auto* value : {"",
                              " ",
                              "7",
                              "\"",
                              "\"\"",
                              "\"0\"",
                              "\"-1\"",
                              "\"+1\"",
                              "\"07\"",
                              "\"7 \"",
                              "\"0x7\"",
                              "\"7\", \"8\"",
                              "\"7\";q=1",
                              "\"\\7\"",
                              "7\"",
                              "\"9223372036854775808\"",
                              "\"18446744073709551616\"",
                              "\"7e3\"",
                              "'7'",
                              "(\"7\")"})
        EXPECT_EQ(parse_fencing_token(value), std::nullopt) << value;
}

TEST(FencingHeader, IsNotMadeForAnEmptyToken) {
    EXPECT_THROW((void)format_fencing_token(fencing_token()), pawl::error);
    EXPECT_THROW((void)format_fencing_token(fencing_token(largest + 1)), pawl::error);
}

TEST(FencingHeader, HasAProblemForEachRefusal) {
    const auto stale = pawl::guard::stale_token_problem({false, fencing_token(largest)});
    EXPECT_EQ(stale.status, 412U);
    EXPECT_EQ(stale.body,
              "{\"type\":\"urn:pawl:stale-token\",\"title\":\"A later holder of the lock has "
              "written.\",\"status\":412,\"newest\":\"9223372036854775807\"}");
    EXPECT_EQ(bad_token_problem("").status, 428U);
    EXPECT_THAT(bad_token_problem("").body, HasSubstr("\"status\":428"));
    EXPECT_EQ(bad_token_problem("7").status, 400U);
    EXPECT_THAT(bad_token_problem("7").body, HasSubstr("must be a token in quotes"));
}

}  // namespace
