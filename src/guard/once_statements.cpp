// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "once_statements.hpp"

#include "dialect_text.hpp"
#include "sha256.hpp"

#include <pawl/error.hpp>

namespace pawl::guard {
namespace {

value number(record_state state) { return static_cast<std::int64_t>(state); }

value bytes_or_null(std::optional<std::string> bytes) {
    return bytes ? value(*std::move(bytes)) : value();
}

constexpr std::string_view insert_text =
    "INSERT INTO pawl_once{alias} (scope, once_key, state, token, claim, attempts, lease_until, "
    "keep_until, fingerprint) "
    "VALUES ($1, $2, $3, {clock}, $4, 1, {clock} + $5, {clock} + $6, $7) ";

constexpr std::string_view upsert_text =
    "ON CONFLICT (scope, once_key) DO UPDATE SET state = excluded.state, "
    "token = {larger}(o.token + 1, excluded.token), claim = excluded.claim, "
    "attempts = o.attempts + 1, lease_until = excluded.lease_until "
    "WHERE o.state = 1 AND o.lease_until <= {clock} AND o.fingerprint = excluded.fingerprint "
    "AND o.attempts < $8 RETURNING token, attempts";

// MySQL assigns from left to right, so the claim decides about the others. It is a new number for
// each statement, and so never that of the row before. MariaDB also returns the row, granted or
// not; for MySQL that clause is a comment.
constexpr std::string_view mysql_upsert_text =
    "ON DUPLICATE KEY UPDATE claim = IF(state = 1 AND lease_until <= {clock} "
    "AND fingerprint = VALUES(fingerprint) AND attempts < $8, VALUES(claim), claim), "
    "token = IF(claim = VALUES(claim), {larger}(token + 1, VALUES(token)), token), "
    "attempts = IF(claim = VALUES(claim), attempts + 1, attempts), "
    "lease_until = IF(claim = VALUES(claim), VALUES(lease_until), lease_until), "
    "state = IF(claim = VALUES(claim), VALUES(state), state) "
    "/*M! RETURNING token, attempts, claim */";

std::string claim_text(dialect spoken) {
    std::string text(insert_text);
    const std::string_view alias = "{alias}";
    text.replace(text.find(alias), alias.size(), spoken == dialect::mysql ? "" : " AS o");
    text += spoken == dialect::mysql ? mysql_upsert_text : upsert_text;
    return text;
}

}  // namespace

once_statements::once_statements(dialect spoken, const once_key& operation,
                                 const once_options& options)
    : spoken_(spoken),
      scope_(operation.scope),
      key_(operation.key),
      fingerprint_(sha256(operation.request)),
      lease_(microseconds(options.lease.count())),
      keep_(microseconds(options.keep.count())),
      attempts_(options.attempts) {}

// $1 and $2 are scope and key.
statement once_statements::over_record(std::string_view text, std::vector<value> others) const {
    others.insert(others.begin(), {scope_, key_});
    return in_dialect(spoken_, text, std::move(others));
}

statement once_statements::look(const std::string& claim_id, bool locks) const {
    std::string text =
        "SELECT state, token, attempts, result, CASE WHEN fingerprint = $3 THEN 1 ELSE 0 END, "
        "CASE WHEN claim = $4 THEN 1 ELSE 0 END, lease_until - {clock} FROM pawl_once "
        "WHERE scope = $1 AND once_key = $2";
    if (locks && spoken_ == dialect::mysql) text += " FOR UPDATE";
    return over_record(text, {fingerprint_, claim_id});
}

statement once_statements::claim(const std::string& claim_id, record_state state) const {
    return over_record(claim_text(spoken_), {number(state), claim_id, lease_, keep_, fingerprint_,
                                             std::int64_t{attempts_}});
}

statement once_statements::finish(std::int64_t token, record_state from, record_state state,
                                  std::optional<std::string> result) const {
    return over_record(
        "UPDATE pawl_once SET state = $3, result = $4, keep_until = {clock} + $5 "
        "WHERE scope = $1 AND once_key = $2 AND state = $6 AND token = $7",
        {number(state), bytes_or_null(std::move(result)), keep_, number(from), token});
}

statement once_statements::give_up(std::int64_t token, duration pause) const {
    return over_record(
        "UPDATE pawl_once SET lease_until = {clock} + $3 "
        "WHERE scope = $1 AND once_key = $2 AND state = 1 AND token = $4",
        {microseconds(pause.count()), token});
}

statement once_statements::exhaust(std::int64_t token) const {
    return over_record(
        "UPDATE pawl_once SET state = 3, result = $3, keep_until = {clock} + $4 "
        "WHERE scope = $1 AND once_key = $2 AND state = 1 AND token = $5",
        {"too many attempts", keep_, token});
}

std::optional<record_view> once_statements::read_record(const rows& answer) {
    if (answer.values.empty()) return std::nullopt;
    const auto& row = answer.values.front();
    record_view record;
    const auto state = as_number(row.at(0));
    if (state < 1 || state > 3)
        throw error(errc::refused, "A record of pawl_once has the state " + std::to_string(state) +
                                       ", which this Pawl does not know; update this program.");
    record.state = static_cast<record_state>(state);
    record.token = as_number(row.at(1));
    record.attempts = static_cast<std::uint32_t>(as_number(row.at(2)));
    if (!std::holds_alternative<std::monostate>(row.at(3))) record.result = as_string(row.at(3));
    record.is_same_request = as_number(row.at(4)) == 1;
    record.is_own_claim = as_number(row.at(5)) == 1;
    record.lease_left = std::chrono::microseconds(as_number(row.at(6)));
    return record;
}

std::optional<claim_grant> once_statements::read_grant(const rows& answer,
                                                       const std::string& claim_id) {
    if (answer.values.empty()) return std::nullopt;
    const auto& row = answer.values.front();
    if (row.size() > 2 && as_string(row[2]) != claim_id) return std::nullopt;
    return claim_grant{as_number(row.at(0)), static_cast<std::uint32_t>(as_number(row.at(1)))};
}

// The record may have become another one since it was chosen.
statement purge_statement(dialect spoken, std::uint32_t limit) {
    if (spoken == dialect::mysql)
        return in_dialect(spoken,
                          "DELETE FROM pawl_once WHERE state IN (2, 3) AND keep_until <= {clock} "
                          "LIMIT $1",
                          {std::int64_t{limit}});
    return in_dialect(spoken,
                      "DELETE FROM pawl_once WHERE state IN (2, 3) AND keep_until <= {clock} "
                      "AND (scope, once_key) IN (SELECT scope, once_key FROM pawl_once "
                      "WHERE state IN (2, 3) AND keep_until <= {clock} LIMIT $1)",
                      {std::int64_t{limit}});
}

statement list_statement(dialect spoken, record_state state, duration older_than,
                         const record_key& after, std::uint32_t limit) {
    return in_dialect(
        spoken,
        "SELECT scope, once_key, token, attempts, {clock} - lease_until, result FROM pawl_once "
        "WHERE state = $1 AND lease_until <= {clock} - $2 "
        "AND (scope > $3 OR (scope = $3 AND once_key > $4)) "
        "ORDER BY scope, once_key LIMIT $5",
        {number(state), microseconds(older_than.count()), after.scope, after.key,
         std::int64_t{limit}});
}

}  // namespace pawl::guard
