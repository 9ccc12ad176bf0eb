// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "shedlock.hpp"

#include "schema.hpp"

#include "../sql/answers.hpp"
#include "../sql/shedlock_table.hpp"

namespace pawl::mysql {
namespace {

// UTC at the beginning of the statement, as in ShedLock. In a TIMESTAMP column it counts as a time
// of the session's time zone, so all programs must have the same.
constexpr std::string_view now = "UTC_TIMESTAMP(3)";

// The schema and the table, in back quotes.
struct table_place {
    std::string schema, name;
};

table_place place_of(const shedlock_table& table, const std::string& schema) {
    const auto dot = table.name.find('.');
    if (dot == std::string::npos) return {schema, table.name};
    return {table.name.substr(0, dot), table.name.substr(dot + 1)};
}

// `@` stands for the table, and `#` for the time.
std::string complete(std::string_view text, const table_place& place) {
    std::string result;
    for (const char each : text)
        if (each == '@')
            result.append("`").append(place.schema).append("`.`").append(place.name).append("`");
        else if (each == '#')
            result += now;
        else
            result += each;
    return result;
}

// In the tables of information_schema.
std::string condition_of(const table_place& place) {
    return "table_schema = '" + place.schema + "' AND table_name = '" + place.name + "'";
}

constexpr std::string_view row_columns =
    "SELECT name, locked_by, CEIL(TIMESTAMPDIFF(MICROSECOND, #, lock_until) / 1000), "
    "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', locked_at) DIV 1000, fence FROM @ ";

}  // namespace

// An UPDATE has no rows, but LAST_INSERT_ID(…) in a row that it finds becomes a part of its answer.
sql::shedlock_statements shedlock_statements(const shedlock_table& table,
                                             const std::string& schema) {
    const auto place = place_of(table, schema);
    const auto text = [&place](std::string_view pattern) { return complete(pattern, place); };
    const std::string columns(row_columns);
    return {
        .take = text("UPDATE @ SET lock_until = TIMESTAMPADD(MICROSECOND, $3 * 1000, #), "
                     "locked_at = #, locked_by = $2, fence = LAST_INSERT_ID(GREATEST(COALESCE("
                     "fence, 0) + 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)))) "
                     "WHERE name = $1 AND lock_until <= #"),
        .make_row = text("INSERT INTO @ (name, lock_until, locked_at, locked_by) "
                         "VALUES ($1, #, #, $2) ON DUPLICATE KEY UPDATE lock_until = lock_until"),
        .extend = text("UPDATE @ SET lock_until = TIMESTAMPADD(MICROSECOND, $3 * 1000, #), "
                       "fence = LAST_INSERT_ID(fence) "
                       "WHERE name = $1 AND locked_by = $2 AND lock_until > #"),
        .release = text("UPDATE @ SET lock_until = IF(TIMESTAMPADD(MICROSECOND, $3 * 1000, "
                        "locked_at) > #, TIMESTAMPADD(MICROSECOND, $3 * 1000, locked_at), #), "
                        "fence = LAST_INSERT_ID(COALESCE(fence, 1)) "
                        "WHERE name = $1 AND locked_by = $2 AND lock_until > #"),
        .look = text(columns + "WHERE name = $1"),
        .list = text(columns + "WHERE lock_until > # ORDER BY name")};
}

// In a new table, names that differ in case or in blanks at the end are different ones. MySQL has
// no ADD COLUMN IF NOT EXISTS.
std::string shedlock_script(const shedlock_table& table, const std::string& schema,
                            std::string_view account) {
    const auto place = place_of(table, schema);
    std::vector<std::string> statements{
        complete("CREATE TABLE IF NOT EXISTS @ (\n    name VARCHAR(64) CHARACTER SET utf8mb4 "
                 "/*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */\n"
                 "    PRIMARY KEY, lock_until DATETIME(3) NOT NULL, locked_at DATETIME(3) NOT NULL,"
                 "\n    locked_by VARCHAR(255) NOT NULL, fence BIGINT) ENGINE = InnoDB",
                 place),
        "SET @pawl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE " +
            condition_of(place) + " AND column_name = 'fence'),\n    'DO 0', '" +
            complete("ALTER TABLE @ ADD fence BIGINT')", place),
        "PREPARE pawl FROM @pawl", "EXECUTE pawl", "DEALLOCATE PREPARE pawl"};
    if (!account.empty())
        statements.push_back(complete("GRANT SELECT, INSERT, UPDATE ON @ TO ", place) +
                             account_text(account));
    std::string text = "delimiter //\n";
    for (const auto& each : statements)
        text += each + "//\n";
    return text + "delimiter ;\n";
}

const std::vector<std::string>& shedlock_settings() {
    static const std::vector<std::string> settings{
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
        "SET SESSION autocommit = 1, innodb_lock_wait_timeout = 1, lock_wait_timeout = 1, "
        "wait_timeout = 60, sql_mode = "
        "'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'"};
    return settings;
}

std::string shedlock_columns_query(const shedlock_table& table, const std::string& schema) {
    const auto place = place_of(table, schema);
    const auto of_table = condition_of(place);
    return "SELECT LOWER(column_name), CASE WHEN data_type IN ('varchar', 'char', 'text') THEN "
           "'text' WHEN data_type IN ('timestamp', 'datetime') THEN 'time' WHEN data_type = "
           "'bigint' THEN 'number' ELSE data_type END, COALESCE(datetime_precision, "
           "character_maximum_length, 0), EXISTS (SELECT 1 FROM information_schema.statistics "
           "WHERE " +
           of_table +
           " AND non_unique = 0 AND sub_part IS NULL GROUP BY index_name HAVING COUNT(*) = 1 AND "
           "LOWER(MAX(column_name)) = 'name') FROM information_schema.columns WHERE " +
           of_table;
}

std::int64_t check_shedlock(const std::vector<sql::row>& columns, const shedlock_table& table,
                            const std::string& server) {
    std::vector<sql::shedlock_column> all;
    bool has_key = false;
    for (const auto& each : columns) {
        all.push_back({std::string(sql::text_in(each, 0)), std::string(sql::text_in(each, 1)),
                       sql::number_in(each, 2)});
        has_key = sql::flag_in(each, 3);
    }
    return sql::check_shedlock_columns(all, has_key, table.name, server);
}

std::string shedlock_state_query(const shedlock_table& table, const std::string& schema) {
    const auto place = place_of(table, schema);
    const auto of_table = condition_of(place);
    return complete(
               "SELECT (SELECT COUNT(*) FROM @ WHERE locked_at > TIMESTAMPADD(SECOND, 1, #)), "
               "NOW() <> UTC_TIMESTAMP() AND EXISTS (SELECT 1 FROM information_schema.columns "
               "WHERE data_type = 'timestamp' AND column_name = 'lock_until' AND ",
               place) +
           of_table +
           "), EXISTS (SELECT 1 FROM information_schema.columns WHERE column_name = 'name' AND "
           "collation_name LIKE '%\\_ci' AND " +
           of_table + ")";
}

}  // namespace pawl::mysql
