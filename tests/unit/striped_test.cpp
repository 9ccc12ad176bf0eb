// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Which key belongs to which stripe: the same on every machine and in every version.
#include <pawl/error.hpp>
#include <pawl/striped.hpp>

#include <gtest/gtest.h>

#include <array>

namespace {

// These numbers never change: programs of different versions share locks by them.
TEST(Striped, TheHashIsTheSameEverywhere) {
    EXPECT_EQ(pawl::stable_hash(""), 0xefd01f60ba992926U);
    EXPECT_EQ(pawl::stable_hash("a"), 0x82a2a958a9bece5bU);
    EXPECT_EQ(pawl::stable_hash("pawl"), 0xd33279100a554302U);
    EXPECT_EQ(pawl::stable_hash("buyer 7"), 0x3a564bcdf2d963efU);
    EXPECT_EQ(pawl::stable_hash("\xc3\xa4"), 0xd496e8b7a31c2b2eU) << "bytes above 127";
}

TEST(Striped, OneKeyHasOneStripe) {
    const pawl::striped stripes("stock", 10);
    EXPECT_EQ(stripes.size(), 10U);
    EXPECT_EQ(stripes.index_of("pawl"), 2U);
    EXPECT_EQ(stripes.name_for("buyer 7"), "stock/1");
    EXPECT_EQ(stripes.name_of(9), "stock/9");
    EXPECT_EQ(pawl::striped("x", 1).index_of("anything"), 0U);
}

TEST(Striped, SeveralKeysHaveEachStripeOnce) {
    const pawl::striped other("x", 2);
    std::vector<std::string> keys;
    for (int i = 0; i < 50; ++i)
        keys.push_back(std::to_string(i));
    EXPECT_EQ(other.names_for(keys), (std::vector<std::string>{"x/0", "x/1"}));
    EXPECT_TRUE(other.names_for({}).empty());
}

TEST(Striped, KeysAreSpreadEvenly) {
    const pawl::striped stripes("x", 8);
    std::array<int, 8> count{};
    for (int i = 0; i < 8000; ++i)
        ++count[stripes.index_of("customer/" + std::to_string(i))];
    for (const int each : count) {
        EXPECT_GT(each, 850);
        EXPECT_LT(each, 1150);
    }
}

TEST(Striped, SenselessNumbersAreRefused) {
    EXPECT_THROW(pawl::striped("x", 0), pawl::error);
    EXPECT_THROW(pawl::striped("x", 65'537), pawl::error);
    EXPECT_NO_THROW(pawl::striped("x", 65'536));
}

}  // namespace
