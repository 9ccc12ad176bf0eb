// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Which entry an entry waits for, where the store orders them. lease_table_test.cpp plays the table
// of cases.
#include "core/store/predecessor.hpp"
#include "lock_shares.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace store_tests {
namespace {

using pawl::core::lock_share;

// The blocker of the last entry: "-" for none, else its position, with "<" for any before it, too.
std::string blocker_of_last(const std::vector<lock_share>& entries, std::uint32_t total = 0) {
    const auto blocker = pawl::core::blocker_of(entries, entries.size() - 1, total);
    if (!blocker) return "-";
    return (blocker->or_any_before ? "<" : "") + std::to_string(blocker->position);
}

TEST(Predecessor, TheFirstEntryHasTheLock) {
    for (const auto& each : {writer, reader, permits(1)})
        EXPECT_EQ(blocker_of_last({each}, 1), "-");
}

TEST(Predecessor, AWriterWaitsForTheEntryBeforeIt) {
    EXPECT_EQ(blocker_of_last({writer, writer}), "0");
    EXPECT_EQ(blocker_of_last({writer, reader, reader, writer}), "2");
    EXPECT_EQ(blocker_of_last({permits(1), writer}, 3), "0");
}

TEST(Predecessor, AReaderWaitsForTheLastEntryThatIsNoReader) {
    EXPECT_EQ(blocker_of_last({reader, reader, reader}), "-");
    EXPECT_EQ(blocker_of_last({writer, reader, writer, reader, reader}), "2");
    EXPECT_EQ(blocker_of_last({permits(1), reader, reader}, 3), "0");
}

// The holders of permits may end in any order.
TEST(Predecessor, ARequestForPermitsWaitsForAnyEntryBeforeIt) {
    EXPECT_EQ(blocker_of_last({permits(2), permits(1)}, 3), "-");
    EXPECT_EQ(blocker_of_last({permits(2), permits(1), permits(1)}, 3), "<1");
    EXPECT_EQ(blocker_of_last({permits(1), permits(3), permits(1)}, 3), "<1");
    EXPECT_EQ(blocker_of_last({reader, permits(3), permits(1)}, 3), "0");
}

TEST(Predecessor, TheSumOfPermitsDoesNotOverflow) {
    constexpr auto most = std::numeric_limits<std::uint32_t>::max();
    EXPECT_EQ(blocker_of_last({permits(most), permits(2)}, most), "<0");
}

}  // namespace
}  // namespace store_tests
