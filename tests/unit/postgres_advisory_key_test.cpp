// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The numbers that other libraries use for the same names.
#include "postgres/advisory_key.hpp"
#include "postgres/advisory_session.hpp"

#include <pawl/error.hpp>

#include <gtest/gtest.h>

namespace pawl::postgres {
namespace {

advisory_key shared_key(std::string_view name) {
    return advisory_key_of(name, advisory_keys::distributed_lock);
}

TEST(AdvisoryKey, OfAShortNameIsThatOfDistributedLock) {
    EXPECT_EQ(shared_key(""), (advisory_key{9223372036854775807}));
    EXPECT_EQ(shared_key("orders"), (advisory_key{-2320718996252393473}));
    EXPECT_EQ(shared_key("abcdefghi"), (advisory_key{-4356354899668899630}));
}

// A key is shown as a name that leads to it again.
TEST(AdvisoryKey, HasAName) {
    const auto scheme = advisory_keys::distributed_lock;
    for (const std::string name :
         {"a", "orders", "abcdefghi", "00000000000000ff", "ffffffffffffffff", "0000000a,ffffffff"})
        EXPECT_EQ(name_of(shared_key(name), scheme), name);
    for (const std::string name : {"", "orders:nightly", "a\x01"}) {
        const auto shown = name_of(shared_key(name), scheme);
        EXPECT_EQ(shown.size(), 16U) << name;
        EXPECT_EQ(shared_key(shown), shared_key(name)) << name;
    }
    for (const std::string name : {"42", "-7,8"})
        EXPECT_EQ(name_of(advisory_key_of(name, advisory_keys::number), advisory_keys::number),
                  name);
}

TEST(AdvisoryKey, OfDigitsIsTheirNumber) {
    EXPECT_EQ(shared_key("00000000000000ff"), (advisory_key{255}));
    EXPECT_EQ(shared_key("ffffffffffffffff"), (advisory_key{-1}));
    EXPECT_EQ(shared_key("0000000a,ffffffff"), (advisory_key{10, -1}));
}

TEST(AdvisoryKey, OfALongNameIsAPartOfItsHash) {
    EXPECT_EQ(shared_key("orders:nightly"), (advisory_key{6410210662430186768}));
    EXPECT_NE(shared_key("\xc3\xa4"), shared_key("\xc3\xb6"));
}

TEST(AdvisoryKey, OfRubyIsAChecksumAndZero) {
    EXPECT_EQ(advisory_key_of("orders", advisory_keys::crc32), (advisory_key{1697644014, 0}));
}

TEST(AdvisoryKey, OfANumberIsTheNumber) {
    EXPECT_EQ(advisory_key_of("-42", advisory_keys::number), (advisory_key{-42}));
    EXPECT_EQ(advisory_key_of("1,-2", advisory_keys::number), (advisory_key{1, -2}));
    EXPECT_EQ(arguments_of({1, -2}), "'1'::pg_catalog.int4, '-2'::pg_catalog.int4");
    for (const auto* text : {"x", "1,", "1,2,3", "9223372036854775808", "1,4294967296", " 1"})
        EXPECT_THROW((void)advisory_key_of(text, advisory_keys::number), error) << text;
}

}  // namespace
}  // namespace pawl::postgres
