// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/guard/fence.hpp>

#include "fence_rules.hpp"
#include "token_number.hpp"

namespace pawl::guard {
namespace {

std::string checked_resource(std::string_view resource) {
    if (resource.empty() || resource.size() > longest_resource)
        throw error(errc::bad_option, "The name of a fenced resource has " +
                                          std::to_string(resource.size()) +
                                          " bytes; it must have 1 to 255.");
    return std::string(resource);
}

const char* raising_text(dialect spoken) noexcept {
    switch (spoken) {
    case dialect::postgres:
        return "INSERT INTO pawl_fence AS f (resource, token) VALUES ($1, $2) "
               "ON CONFLICT (resource) DO UPDATE SET token = greatest(f.token, excluded.token) "
               "RETURNING token";
    case dialect::mysql:
        return "INSERT INTO pawl_fence (resource, token) VALUES (?, ?) ON DUPLICATE KEY UPDATE "
               "token = GREATEST(token, VALUES(token)) /*M! RETURNING token */";
    case dialect::sqlite: break;
    }
    return "INSERT INTO pawl_fence AS f (resource, token) VALUES (?1, ?2) "
           "ON CONFLICT (resource) DO UPDATE SET token = max(f.token, excluded.token) "
           "RETURNING token";
}

const char* reading_text(dialect spoken) noexcept {
    switch (spoken) {
    case dialect::postgres: return "SELECT token FROM pawl_fence WHERE resource = $1 FOR UPDATE";
    case dialect::mysql: return "SELECT token FROM pawl_fence WHERE resource = ? FOR UPDATE";
    case dialect::sqlite: break;  // a transaction that writes excludes all others
    }
    return "SELECT token FROM pawl_fence WHERE resource = ?1";
}

}  // namespace

// A smaller token changes nothing and updates the row, too: so each answer has the newest token,
// and the row is locked in any case. For MySQL the clause of MariaDB is a comment.
statement fence_statement(dialect spoken, std::string_view resource, fencing_token token) {
    return {raising_text(spoken), {checked_resource(resource), token_number(token)}, true};
}

statement newest_fence_statement(dialect spoken, std::string_view resource) {
    return {reading_text(spoken), {checked_resource(resource)}, true};
}

void expect_transaction(bool is_open, std::string_view resource) {
    if (!is_open)
        throw error(errc::unsupported,
                    "The fence of " + std::string(resource) +
                        " was used outside a transaction, where another writer could come between "
                        "its answer and the write; begin the writer's transaction first.");
}

std::optional<fence_result> judge_fence(const rows& answer, fencing_token token) {
    if (answer.values.empty()) return std::nullopt;
    const fencing_token newest(
        static_cast<std::uint64_t>(as_number(answer.values.front().front())));
    return fence_result{newest == token, newest};
}

error missing_fence(std::string_view resource) {
    return {errc::protocol, "The fence of " + std::string(resource) +
                                " has no row after it was written; look for a trigger or a rule "
                                "at the table pawl_fence."};
}

fence_result fence(connection& db, std::string_view resource, fencing_token token) {
    const auto raise = fence_statement(db.dialect(), resource, token);
    expect_transaction(db.in_transaction(), resource);
    if (const auto verdict = judge_fence(db.execute(raise), token)) return *verdict;
    const auto read = newest_fence_statement(db.dialect(), resource);
    if (const auto verdict = judge_fence(db.execute(read), token)) return *verdict;
    throw missing_fence(resource);
}

}  // namespace pawl::guard
