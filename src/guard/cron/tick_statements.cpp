// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "tick_statements.hpp"

#include "../dialect_text.hpp"

#include <pawl/error.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace pawl::guard {
namespace {

constexpr std::string_view columns =
    "name, tick, due, state, claim, attempts, lease_until, token, host, began, ended, status, "
    "reason, missed, ";

constexpr std::size_t longest_text = 255;

std::int64_t us_of(duration length) {
    return std::chrono::duration_cast<std::chrono::microseconds>(length).count();
}

// A value beside the text.
struct parameter {
    explicit parameter(std::int64_t number) : content(number) {}
    explicit parameter(std::string bytes) : content(std::move(bytes)) {}

    value content;
};

std::int64_t number_of(tick_state state) { return static_cast<std::int64_t>(state); }

}  // namespace

std::int64_t to_us(store_time instant) noexcept { return instant.time_since_epoch().count(); }

store_time to_store_time(std::int64_t us) noexcept {
    return store_time(std::chrono::microseconds(us));
}

// Text and parameters in their order. PostgreSQL does not guess the type of a parameter that is a
// column of a SELECT.
class tick_statements::builder {
public:
    explicit builder(dialect spoken) noexcept : dialect_(spoken) { result_.is_binary = true; }

    builder& operator<<(std::string_view text) {
        result_.text += text;
        return *this;
    }
    builder& operator<<(const parameter& next) {
        const bool is_number = std::holds_alternative<std::int64_t>(next.content);
        result_.parameters.push_back(next.content);
        const auto count = std::to_string(result_.parameters.size());
        switch (dialect_) {
        case dialect::postgres:
            result_.text += "$" + count + (is_number ? "::bigint" : "::bytea");
            break;
        case dialect::sqlite: result_.text += "?" + count; break;
        case dialect::mysql: result_.text += "?"; break;
        }
        return *this;
    }
    builder& clock() { return *this << clock_of(dialect_); }
    builder& record_of(const tick_claim& wanted) {
        return *this << " WHERE name = " << parameter(wanted.name)
                     << " AND tick = " << parameter(wanted.key);
    }
    builder& of_claim(const std::string& claim, tick_state state) {
        return *this << " AND claim = " << parameter(claim)
                     << " AND state = " << parameter(number_of(state));
    }
    // Ends an INSERT.
    builder& unless_recorded() {
        return *this << (dialect_ == dialect::mysql
                             ? " ON DUPLICATE KEY UPDATE name = pawl_tick.name"
                             : " ON CONFLICT (name, tick) DO NOTHING");
    }
    [[nodiscard]] statement build() { return std::move(result_); }

private:
    dialect dialect_;
    statement result_;
};

statement tick_statements::state_of(std::string_view name) const {
    builder text(dialect_);
    text << "SELECT ";
    text.clock() << ", (SELECT MAX(settled) FROM pawl_tick WHERE name = "
                 << parameter(std::string(name)) << ")";
    return text.build();
}

// Its empty key is that of no tick.
statement tick_statements::add_schedule(std::string_view name) const {
    builder text(dialect_);
    text << "INSERT INTO pawl_tick(name, tick, due, settled, state, claim, attempts, lease_until, "
            "token, host, began, ended, status, reason, missed) VALUES("
         << parameter(std::string(name)) << ", " << parameter(std::string()) << ", 0, ";
    text.clock() << ", " << parameter(number_of(tick_state::skipped)) << ", "
                 << parameter(std::string()) << ", 0, 0, 0, " << parameter(std::string())
                 << ", 0, 0, 0, " << parameter(std::string("known")) << ", 0)";
    return text.unless_recorded().build();
}

statement tick_statements::unfinished(std::string_view name) const {
    builder text(dialect_);
    text << "SELECT " << columns;
    text.clock() << " FROM pawl_tick WHERE name = " << parameter(std::string(name))
                 << " AND state IN (1, 2) ORDER BY due, tick";
    return text.build();
}

statement tick_statements::find(const tick_claim& wanted) const {
    builder text(dialect_);
    text << "SELECT " << columns;
    text.clock() << " FROM pawl_tick";
    return text.record_of(wanted).build();
}

statement tick_statements::history(std::string_view name, std::uint32_t most) const {
    builder text(dialect_);
    text << "SELECT " << columns;
    text.clock() << " FROM pawl_tick WHERE tick <> " << parameter(std::string());
    if (!name.empty()) text << " AND name = " << parameter(std::string(name));
    text << " ORDER BY due DESC, name, tick LIMIT " << std::to_string(most);
    return text.build();
}

statement tick_statements::add_claim(const tick_claim& wanted, store_time not_before,
                                     duration lease) const {
    builder text(dialect_);
    text << "INSERT INTO pawl_tick(name, tick, due, settled, state, claim, attempts, lease_until, "
            "token, host, began, ended, status, reason, missed) SELECT "
         << parameter(wanted.name) << ", " << parameter(wanted.key) << ", "
         << parameter(to_us(wanted.due)) << ", " << parameter(to_us(wanted.due)) << ", 1, "
         << parameter(wanted.claim) << ", 0, ";
    text.clock() << " + " << parameter(us_of(lease)) << ", 0, " << parameter(wanted.host)
                 << ", 0, 0, 0, " << parameter(std::string()) << ", 0"
                 << (dialect_ == dialect::mysql ? " FROM DUAL" : "") << " WHERE ";
    text.clock() << " >= " << parameter(to_us(not_before));
    return text.unless_recorded().build();
}

statement tick_statements::replace_claim(const tick_claim& wanted, duration lease) const {
    builder text(dialect_);
    text << "UPDATE pawl_tick SET claim = " << parameter(wanted.claim)
         << ", host = " << parameter(wanted.host) << ", lease_until = ";
    text.clock() << " + " << parameter(us_of(lease));
    text.record_of(wanted) << " AND state = 1 AND lease_until <= ";
    return text.clock().build();
}

statement tick_statements::begin(const tick_claim& claimed, fencing_token token, store_time latest,
                                 duration lease) const {
    builder text(dialect_);
    text << "UPDATE pawl_tick SET state = 2, attempts = attempts + 1, token = "
         << parameter(static_cast<std::int64_t>(token.value()))
         << ", host = " << parameter(claimed.host) << ", began = ";
    text.clock() << ", lease_until = ";
    text.clock() << " + " << parameter(us_of(lease));
    text.record_of(claimed).of_claim(claimed.claim, tick_state::claimed) << " AND ";
    text.clock() << " <= " << parameter(to_us(latest));
    return text.build();
}

statement tick_statements::begin_again(const tick_claim& claimed, const std::string& crashed,
                                       fencing_token token, duration lease) const {
    builder text(dialect_);
    text << "UPDATE pawl_tick SET claim = " << parameter(claimed.claim)
         << ", attempts = attempts + 1, token = "
         << parameter(static_cast<std::int64_t>(token.value()))
         << ", host = " << parameter(claimed.host) << ", began = ";
    text.clock() << ", lease_until = ";
    text.clock() << " + " << parameter(us_of(lease));
    text.record_of(claimed).of_claim(crashed, tick_state::running);
    return text.build();
}

// MySQL assigns from left to right.
statement tick_statements::withdraw(const tick_claim& claimed) const {
    builder text(dialect_);
    text
        << "UPDATE pawl_tick SET attempts = CASE state WHEN 2 THEN attempts - 1 ELSE attempts END, "
           "state = 1, began = 0, lease_until = ";
    text.clock();
    text.record_of(claimed) << " AND claim = " << parameter(claimed.claim)
                            << " AND state IN (1, 2)";
    return text.build();
}

statement tick_statements::finish(const tick_claim& claimed, tick_state state, int status,
                                  const std::string& reason) const {
    builder text(dialect_);
    text << "UPDATE pawl_tick SET state = " << parameter(number_of(state))
         << ", status = " << parameter(std::int64_t{status}) << ", reason = " << parameter(reason)
         << ", ended = ";
    text.clock();
    return text.record_of(claimed).of_claim(claimed.claim, tick_state::running).build();
}

statement tick_statements::add_skipped(const tick_claim& claimed, const std::string& reason,
                                       store_time settled, std::uint32_t missed) const {
    builder text(dialect_);
    text << "INSERT INTO pawl_tick(name, tick, due, settled, state, claim, attempts, lease_until, "
            "token, host, began, ended, status, reason, missed) VALUES("
         << parameter(claimed.name) << ", " << parameter(claimed.key) << ", "
         << parameter(to_us(claimed.due)) << ", " << parameter(to_us(settled)) << ", "
         << parameter(number_of(tick_state::skipped)) << ", " << parameter(claimed.claim)
         << ", 0, 0, 0, " << parameter(claimed.host) << ", 0, ";
    text.clock() << ", 0, " << parameter(reason) << ", " << parameter(std::int64_t{missed}) << ")";
    return text.unless_recorded().build();
}

statement tick_statements::skip_claimed(const tick_claim& claimed,
                                        const std::string& reason) const {
    builder text(dialect_);
    text << "UPDATE pawl_tick SET state = " << parameter(number_of(tick_state::skipped))
         << ", reason = " << parameter(reason) << ", ended = ";
    text.clock();
    return text.record_of(claimed).of_claim(claimed.claim, tick_state::claimed).build();
}

statement tick_statements::renew(const tick_claim& claimed, duration lease) const {
    builder text(dialect_);
    text << "UPDATE pawl_tick SET lease_until = ";
    text.clock() << " + " << parameter(us_of(lease));
    text.record_of(claimed) << " AND claim = " << parameter(claimed.claim)
                            << " AND state IN (1, 2)";
    return text.build();
}

statement tick_statements::purge(std::string_view name, duration keep, store_time before) const {
    builder text(dialect_);
    text << "DELETE FROM pawl_tick WHERE name = " << parameter(std::string(name))
         << " AND state >= 3 AND settled < " << parameter(to_us(before)) << " AND tick <> "
         << parameter(std::string()) << " AND ended < ";
    text.clock() << " - " << parameter(us_of(keep));
    return text.build();
}

tick_record record_in(const std::vector<value>& row) {
    tick_record record;
    const auto time = [&row](std::size_t column) {
        return to_store_time(as_number(row.at(column)));
    };
    record.name = as_string(row.at(0));
    record.key = as_string(row.at(1));
    record.due = time(2);
    record.state = static_cast<tick_state>(as_number(row.at(3)));
    record.claim = as_string(row.at(4));
    record.attempts = static_cast<std::uint32_t>(as_number(row.at(5)));
    record.lease_until = time(6);
    record.token = fencing_token(static_cast<std::uint64_t>(as_number(row.at(7))));
    record.host = as_string(row.at(8));
    record.began = time(9);
    record.ended = time(10);
    record.status = static_cast<int>(as_number(row.at(11)));
    record.reason = as_string(row.at(12));
    record.missed = static_cast<std::uint32_t>(as_number(row.at(13)));
    return record;
}

std::vector<tick_record> records_in(const rows& answer) {
    std::vector<tick_record> found;
    for (const auto& row : answer.values)
        found.push_back(record_in(row));
    return found;
}

bool is_unknown_schedule(const rows& state) {
    return std::holds_alternative<std::monostate>(state.values.at(0).at(1));
}

schedule_state state_in(const rows& state, const rows& unfinished) {
    const auto& row = state.values.at(0);
    return {to_store_time(as_number(row.at(0))), to_store_time(as_number(row.at(1))),
            records_in(unfinished)};
}

void check_schedule_name(std::string_view name) {
    if (name.empty() || name.size() > longest_text)
        throw error(errc::bad_name, "The name of a schedule must have 1 to 255 bytes.");
}

std::string shortened(std::string text) {
    text.resize(std::min(text.size(), longest_text));
    return text;
}

bool is_concurrent_creation(const database_error& problem) {
    return problem.code() == "23505" || problem.code() == "42P07";
}

}  // namespace pawl::guard
