// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Values of rows, as the program reads them.
#include <pawl/guard/connection.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace guard_tests {
namespace {

using pawl::guard::as_number;
using pawl::guard::as_string;
using pawl::guard::value;

TEST(GuardValue, IsANumberOrTheDigitsOfOne) {
    EXPECT_EQ(as_number(std::int64_t{-7}), -7);
    EXPECT_EQ(as_number("-9223372036854775808"), INT64_MIN);
    for (const std::string text : {"", "7 ", "+7", "7.0", "9223372036854775808", "seven"})
        EXPECT_THROW((void)as_number(text), std::invalid_argument) << text;
    EXPECT_THROW((void)as_number(value()), std::invalid_argument);
}

TEST(GuardValue, IsAlwaysAString) {
    EXPECT_EQ(as_string(std::string("a\0b", 3)), std::string("a\0b", 3));
    EXPECT_EQ(as_string(INT64_MIN), "-9223372036854775808");
    EXPECT_EQ(as_string(value()), "");
}

}  // namespace
}  // namespace guard_tests
