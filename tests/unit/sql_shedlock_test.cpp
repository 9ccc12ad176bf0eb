// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The check of ShedLock's table, without a database.
#include "sql/answers.hpp"
#include "sql/shedlock_table.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pawl::sql {
namespace {

std::vector<shedlock_column> good_columns() {
    return {{"name", "text", 64},
            {"lock_until", "time", 3},
            {"locked_at", "time", 6},
            {"locked_by", "text", 255},
            {"fence", "number", 0}};
}

std::string refusal_of(const std::vector<shedlock_column>& columns, bool has_key = true) {
    try {
        static_cast<void>(check_shedlock_columns(columns, has_key, "locks", "The server"));
        return "accepted";
    } catch (const error& refused) {
        EXPECT_EQ(refused.reason(), errc::refused);
        return refused.what();
    }
}

TEST(SqlShedLock, ATableMayHaveOtherColumnsAndLargerOnes) {
    auto columns = good_columns();
    EXPECT_EQ(check_shedlock_columns(columns, true, "locks", "s"), 64);
    columns.push_back({"note", "json", 0});
    columns[0].size = 0;
    columns[3].size = 0;
    EXPECT_EQ(check_shedlock_columns(columns, true, "locks", "s"), 0);
}

TEST(SqlShedLock, ATableThatDoesNotFitIsRefusedInOneSentence) {
    EXPECT_EQ(refusal_of({}),
              "The server has no table locks that this user can see; let an administrator run the "
              "output of `pawl schema --role ROLE`.");
    EXPECT_EQ(refusal_of(good_columns(), false),
              "The table locks of The server may have a name twice; let an administrator run: "
              "ALTER TABLE locks ADD PRIMARY KEY (name).");
    auto columns = good_columns();
    columns[2].name = "since";
    EXPECT_EQ(refusal_of(columns),
              "The table locks of The server has no column locked_at; let an administrator run: "
              "ALTER TABLE locks ADD locked_at TIMESTAMP(3).");
    columns = good_columns();
    columns[1].size = 2;
    EXPECT_EQ(refusal_of(columns),
              "The column lock_until of the table locks of The server is too small (2 digits of a "
              "second); it must be TIMESTAMP(3).");
    columns = good_columns();
    columns[3].size = 64;
    EXPECT_EQ(refusal_of(columns),
              "The column locked_by of the table locks of The server is too small (64 characters); "
              "it must be VARCHAR(255).");
    columns = good_columns();
    columns[1].kind = "timestamp with time zone";
    EXPECT_EQ(refusal_of(columns),
              "The column lock_until of the table locks of The server has the type timestamp with "
              "time zone; ShedLock's table has TIMESTAMP(3) without a time zone of its own.");
}

TEST(SqlShedLock, CharactersAreNotBytes) {
    EXPECT_EQ(count_characters(""), 0U);
    EXPECT_EQ(count_characters("a\xC3\xA4\xF0\x9F\x94\x92"), 3U);
    EXPECT_EQ(count_characters("a\xC3"), std::nullopt);
    EXPECT_EQ(count_characters("\xFF"), std::nullopt);
}

}  // namespace
}  // namespace pawl::sql
