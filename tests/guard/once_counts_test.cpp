// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What `once` costs, as the statements that it sends. Each is a round trip, except that MySQL
// prepares those with parameters first.
#include "rewriting_connection.hpp"
#include "test_database.hpp"

#include <pawl/guard/once.hpp>
#include <pawl/guard/schema.hpp>

namespace guard_tests {
namespace {

using namespace std::chrono_literals;

class OnceCounts : public database_test {
protected:
    OnceCounts() {
        guard::make_tables(db->view());
        guard::check_tables(counted);
        db->run("CREATE TABLE effects(id BIGINT)");
    }

    // The first words of the statements of a call, in order; "write" for that of the work.
    std::string words_of(const guard::once_key& key, const guard::once_options& options) {
        words.clear();
        const auto result = guard::once(counted, key, options, [&](const guard::attempt&) {
            counted.execute({"/*write*/ INSERT INTO effects(id) VALUES(1)"});
            return "made";
        });
        EXPECT_TRUE(result);
        return words;
    }
    // MySQL has no RETURNING.
    [[nodiscard]] std::string claim() const {
        return GetParam().name == "MySql" ? "INSERT SELECT " : "INSERT ";
    }
    [[nodiscard]] std::string begin() const {
        return database->dialect() == guard::dialect::mysql ? "START " : "BEGIN ";
    }

    std::string words;
    const std::unique_ptr<open_connection> db = database->connect();
    rewriting_connection counted{
        db->view(), {}, [this](const std::string& text) {
            words += text.starts_with("/*write*/") ? "write" : text.substr(0, text.find(' '));
            words += ' ';
        }};
};

// The plain transaction has BEGIN, the write and COMMIT.
TEST_P(OnceCounts, OfAFirstCallAndOfARepetition) {
    const auto effect = begin() + "write UPDATE COMMIT ";
    EXPECT_EQ(words_of("order/1", {}), "SELECT " + claim() + effect);
    EXPECT_EQ(words_of("order/1", {}), "SELECT ");
    const guard::once_options direct{.looks_first = false};
    EXPECT_EQ(words_of("order/2", direct), claim() + effect);
    EXPECT_EQ(words_of("order/2", direct), "INSERT SELECT ");
}

TEST_P(OnceCounts, WithoutALease) {
    const auto transaction = begin() + claim() + "write UPDATE COMMIT ";
    const guard::once_options options{.lease = 0s};
    EXPECT_EQ(words_of("order/1", options), "SELECT " + transaction);
    EXPECT_EQ(words_of("order/1", options), "SELECT ");
    EXPECT_EQ(words_of("order/2", {.lease = 0s, .looks_first = false}), transaction);
}

EVERY_DATABASE(OnceCounts);

}  // namespace
}  // namespace guard_tests
