// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The file of records beside a lock file.
#include <pawl/guard/open_database.hpp>
#include <support/temp_folder.hpp>

#include <gtest/gtest.h>

#if PAWL_WITH_SQLITE

namespace guard_tests {
namespace {

namespace guard = pawl::guard;

// A reader with a mistyped path would leave an empty file behind, and say that there are no tables.
TEST(OpenDatabase, MakesNoFileForAReader) {
    const support::temp_folder folder;
    const auto url = "sqlite:" + folder.file("locks.db");
    const auto records = folder.file("locks.db.records");
    try {
        (void)guard::open_database(url, guard::if_missing::refuse);
        ADD_FAILURE() << "it was opened";
    } catch (const guard::database_error& refused) {
        EXPECT_NE(std::string(refused.what()).find("There is no file " + records),
                  std::string::npos)
            << refused.what();
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
    EXPECT_TRUE(guard::open_database(url));
    EXPECT_TRUE(guard::open_database(url, guard::if_missing::refuse));
}

}  // namespace
}  // namespace guard_tests

#endif
