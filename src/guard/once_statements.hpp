// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The statements over a record of `once`, and what their rows say. Each statement is a step of its
// own: what it may change, it decides itself.
#pragma once

#include <pawl/guard/connection.hpp>
#include <pawl/guard/once_options.hpp>

#include <optional>
#include <string>

namespace pawl::guard {

enum class record_state : std::uint8_t { pending = 1, done = 2, failed = 3 };

// A record, as a look finds it.
struct record_view {
    record_state state = record_state::pending;
    std::int64_t token = 0;
    std::uint32_t attempts = 0;
    std::optional<std::string> result{};
    bool is_same_request = true;
    bool is_own_claim = false;  // the claim whose number the look had
    duration lease_left{};      // 0 or less: it is over
};

// A claim that was granted.
struct claim_grant {
    std::int64_t token = 0;
    std::uint32_t attempts = 0;
};

// The key of a record. Makes no statement before it was checked.
struct record_key {
    std::string scope, key;
};

class once_statements {
public:
    once_statements(dialect spoken, const once_key& operation, const once_options& options);

    // `locks`: in a transaction, where MySQL's plain SELECT may be of an earlier time.
    [[nodiscard]] statement look(const std::string& claim_id, bool locks = false) const;
    // Makes the record, or takes it over: if it is pending, its lease is over, it is of the same
    // request and has attempts left. `state` is pending, or done for one that begins in the
    // transaction of its effect. MySQL, but not MariaDB, returns no rows, so that a look follows.
    [[nodiscard]] statement claim(const std::string& claim_id, record_state state) const;
    // Only while the record is in the state `from` and has this token, of the claim.
    [[nodiscard]] statement finish(std::int64_t token, record_state from, record_state state,
                                   std::optional<std::string> result) const;
    [[nodiscard]] statement give_up(std::int64_t token, duration pause) const;
    // Ends a record whose last attempt, which has this token, was over when a look found it.
    [[nodiscard]] statement exhaust(std::int64_t token) const;

    [[nodiscard]] static std::optional<record_view> read_record(const rows& answer);
    [[nodiscard]] static std::optional<claim_grant> read_grant(const rows& answer,
                                                               const std::string& claim_id);

private:
    [[nodiscard]] statement over_record(std::string_view text, std::vector<value> others) const;

    dialect spoken_;
    std::string scope_, key_, fingerprint_;
    std::int64_t lease_, keep_;  // in µs
    std::uint32_t attempts_;
};

// Listings and purges, over all records of a database.
[[nodiscard]] statement purge_statement(dialect spoken, std::uint32_t limit);
[[nodiscard]] statement list_statement(dialect spoken, record_state state, duration older_than,
                                       const record_key& after, std::uint32_t limit);

}  // namespace pawl::guard
