// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "tick_statements.hpp"

#include <pawl/error.hpp>
#include <pawl/guard/tick_records.hpp>

namespace pawl::guard {
namespace {

// The name and the key are bytes: two names that look alike are different schedules.
constexpr std::string_view postgres_table = R"sql(CREATE TABLE IF NOT EXISTS pawl_tick (
    name bytea NOT NULL,
    tick bytea NOT NULL,
    due bigint NOT NULL,
    settled bigint NOT NULL,
    state smallint NOT NULL,
    claim bytea NOT NULL,
    attempts integer NOT NULL,
    lease_until bigint NOT NULL,
    token bigint NOT NULL,
    host bytea NOT NULL,
    began bigint NOT NULL,
    ended bigint NOT NULL,
    status integer NOT NULL,
    reason bytea NOT NULL,
    missed bigint NOT NULL,
    PRIMARY KEY (name, tick)
))sql";
constexpr std::string_view mysql_table = R"sql(CREATE TABLE IF NOT EXISTS pawl_tick (
    name VARBINARY(255) NOT NULL,
    tick VARBINARY(128) NOT NULL,
    due BIGINT NOT NULL,
    settled BIGINT NOT NULL,
    state SMALLINT NOT NULL,
    claim VARBINARY(16) NOT NULL,
    attempts INT NOT NULL,
    lease_until BIGINT NOT NULL,
    token BIGINT NOT NULL,
    host VARBINARY(255) NOT NULL,
    began BIGINT NOT NULL,
    ended BIGINT NOT NULL,
    status INT NOT NULL,
    reason VARBINARY(255) NOT NULL,
    missed BIGINT NOT NULL,
    PRIMARY KEY (name, tick),
    INDEX pawl_tick_settled (name, settled),
    INDEX pawl_tick_state (name, state)
) ENGINE = InnoDB)sql";
constexpr std::string_view sqlite_table = R"sql(CREATE TABLE IF NOT EXISTS pawl_tick (
    name BLOB NOT NULL,
    tick BLOB NOT NULL,
    due INTEGER NOT NULL,
    settled INTEGER NOT NULL,
    state INTEGER NOT NULL,
    claim BLOB NOT NULL,
    attempts INTEGER NOT NULL,
    lease_until INTEGER NOT NULL,
    token INTEGER NOT NULL,
    host BLOB NOT NULL,
    began INTEGER NOT NULL,
    ended INTEGER NOT NULL,
    status INTEGER NOT NULL,
    reason BLOB NOT NULL,
    missed INTEGER NOT NULL,
    PRIMARY KEY (name, tick)
) WITHOUT ROWID)sql";

}  // namespace

const char* to_string(tick_state state) noexcept {
    switch (state) {
    case tick_state::claimed: return "claimed";
    case tick_state::running: return "running";
    case tick_state::done: return "done";
    case tick_state::skipped: return "skipped";
    case tick_state::crashed: return "crashed";
    }
    return "unknown";
}

std::vector<std::string> sql_tick_records::schema(dialect spoken) {
    if (spoken == dialect::mysql) return {std::string(mysql_table)};
    return {std::string(spoken == dialect::postgres ? postgres_table : sqlite_table),
            "CREATE INDEX IF NOT EXISTS pawl_tick_settled ON pawl_tick (name, settled)",
            "CREATE INDEX IF NOT EXISTS pawl_tick_state ON pawl_tick (name, state)"};
}

// PostgreSQL refuses IF NOT EXISTS without the right to create, also for a table that exists.
void sql_tick_records::make_schema() {
    try {
        db_.execute({"SELECT name FROM pawl_tick WHERE 1 = 0"});
        return;
    } catch (const database_error& problem) {
        if (problem.is_connection_lost()) throw;
    }
    for (const auto& text : schema(db_.dialect())) {
        try {
            db_.execute({text});
        } catch (const database_error& problem) {
            if (!is_concurrent_creation(problem)) throw;
            db_.execute({text});
        }
    }
}

std::optional<tick_record> sql_tick_records::find(const tick_claim& claimed) {
    const auto answer = db_.execute(tick_statements(db_.dialect()).find(claimed));
    if (answer.values.empty()) return {};
    return record_in(answer.values.front());
}

schedule_state sql_tick_records::look(std::string_view name) {
    const tick_statements sql(db_.dialect());
    check_schedule_name(name);
    auto state = db_.execute(sql.state_of(name));
    if (is_unknown_schedule(state)) {
        db_.execute(sql.add_schedule(name));
        state = db_.execute(sql.state_of(name));
    }
    return state_in(state, db_.execute(sql.unfinished(name)));
}

claim_answer sql_tick_records::claim(const tick_claim& wanted, store_time not_before,
                                     duration lease) {
    const tick_statements sql(db_.dialect());
    db_.execute(sql.add_claim(wanted, not_before, lease));
    auto record = find(wanted);
    if (!record) return claim_answer::early;
    if (record->state == tick_state::claimed && record->claim != wanted.claim) {
        if (db_.execute(sql.replace_claim(wanted, lease)).matched == 1)
            return claim_answer::claimed;
        record = find(wanted);
    }
    const bool is_claimed = record && record->state == tick_state::claimed;
    return is_claimed && record->claim == wanted.claim ? claim_answer::claimed
                                                       : claim_answer::settled;
}

// Two answers are no change: the record is another claim's, or this call had no answer before.
bool sql_tick_records::change(const statement& update, const tick_claim& claimed,
                              tick_state expected) {
    if (db_.execute(update).matched == 1) return true;
    const auto record = find(claimed);
    return record && record->state == expected && record->claim == claimed.claim;
}

bool sql_tick_records::begin(const tick_claim& claimed, fencing_token token, store_time latest,
                             duration lease) {
    return change(tick_statements(db_.dialect()).begin(claimed, token, latest, lease), claimed,
                  tick_state::running);
}

bool sql_tick_records::begin_again(const tick_claim& claimed, const std::string& crashed,
                                   fencing_token token, duration lease) {
    return change(tick_statements(db_.dialect()).begin_again(claimed, crashed, token, lease),
                  claimed, tick_state::running);
}

bool sql_tick_records::withdraw(const tick_claim& claimed) {
    return db_.execute(tick_statements(db_.dialect()).withdraw(claimed)).matched == 1;
}

bool sql_tick_records::finish(const tick_claim& claimed, tick_state state, int status,
                              const std::string& reason) {
    return change(tick_statements(db_.dialect()).finish(claimed, state, status, shortened(reason)),
                  claimed, state);
}

bool sql_tick_records::skip(const tick_claim& claimed, const std::string& reason,
                            store_time settled, std::uint32_t missed) {
    const tick_statements sql(db_.dialect());
    db_.execute(sql.add_skipped(claimed, shortened(reason), settled, missed));
    return change(sql.skip_claimed(claimed, shortened(reason)), claimed, tick_state::skipped);
}

void sql_tick_records::renew(const tick_claim& claimed, duration lease) {
    db_.execute(tick_statements(db_.dialect()).renew(claimed, lease));
}

std::vector<tick_record> sql_tick_records::history(std::string_view name, std::uint32_t most) {
    return records_in(db_.execute(tick_statements(db_.dialect()).history(name, most)));
}

void sql_tick_records::purge(std::string_view name, duration keep) {
    const tick_statements sql(db_.dialect());
    const auto state = db_.execute(sql.state_of(name));
    if (is_unknown_schedule(state)) return;
    db_.execute(sql.purge(name, keep, state_in(state, {}).settled));
}

}  // namespace pawl::guard
