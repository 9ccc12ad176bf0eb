// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "tick_statements.hpp"

#include <pawl/guard/async_tick_records.hpp>

namespace pawl::guard {

namespace asio = boost::asio;

asio::awaitable<void> async_sql_tick_records::make_schema() {
    const statement probe{"SELECT name FROM pawl_tick WHERE 1 = 0"};
    try {
        (void)co_await db_.execute(probe);
        co_return;
    } catch (const database_error& problem) {
        if (problem.is_connection_lost()) throw;
    }
    for (const auto& text : sql_tick_records::schema(db_.dialect())) {
        const statement make{text};
        bool is_repeated = false;
        try {
            (void)co_await db_.execute(make);
        } catch (const database_error& problem) {
            is_repeated = is_concurrent_creation(problem);
            if (!is_repeated) throw;
        }
        if (is_repeated) (void)co_await db_.execute(make);
    }
}

asio::awaitable<std::optional<tick_record>> async_sql_tick_records::find(
    const tick_claim& claimed) {
    const auto query = tick_statements(db_.dialect()).find(claimed);
    const rows answer = co_await db_.execute(query);
    if (answer.values.empty()) co_return std::nullopt;
    co_return record_in(answer.values.front());
}

// Two answers are no change: the record is another claim's, or this call had no answer before.
asio::awaitable<bool> async_sql_tick_records::change(const statement& update,
                                                     const tick_claim& claimed,
                                                     tick_state expected) {
    const rows answer = co_await db_.execute(update);
    if (answer.matched == 1) co_return true;
    const auto record = co_await find(claimed);
    co_return record && record->state == expected && record->claim == claimed.claim;
}

asio::awaitable<schedule_state> async_sql_tick_records::look(const std::string& name) {
    const tick_statements sql(db_.dialect());
    check_schedule_name(name);
    const auto query = sql.state_of(name);
    rows state = co_await db_.execute(query);
    if (is_unknown_schedule(state)) {
        const auto add = sql.add_schedule(name);
        (void)co_await db_.execute(add);
        state = co_await db_.execute(query);
    }
    const auto open = sql.unfinished(name);
    const rows unfinished = co_await db_.execute(open);
    co_return state_in(state, unfinished);
}

asio::awaitable<claim_answer> async_sql_tick_records::claim(const tick_claim& wanted,
                                                            store_time not_before, duration lease) {
    const tick_statements sql(db_.dialect());
    const auto add = sql.add_claim(wanted, not_before, lease);
    (void)co_await db_.execute(add);
    auto record = co_await find(wanted);
    if (!record) co_return claim_answer::early;
    if (record->state == tick_state::claimed && record->claim != wanted.claim) {
        const auto replace = sql.replace_claim(wanted, lease);
        const rows answer = co_await db_.execute(replace);
        if (answer.matched == 1) co_return claim_answer::claimed;
        record = co_await find(wanted);
    }
    const bool is_claimed = record && record->state == tick_state::claimed;
    co_return is_claimed && record->claim == wanted.claim ? claim_answer::claimed
                                                          : claim_answer::settled;
}

asio::awaitable<bool> async_sql_tick_records::begin(const tick_claim& claimed, fencing_token token,
                                                    store_time latest, duration lease) {
    const auto update = tick_statements(db_.dialect()).begin(claimed, token, latest, lease);
    const bool has_begun = co_await change(update, claimed, tick_state::running);
    co_return has_begun;
}

asio::awaitable<bool> async_sql_tick_records::begin_again(const tick_claim& claimed,
                                                          const std::string& crashed,
                                                          fencing_token token, duration lease) {
    const auto update = tick_statements(db_.dialect()).begin_again(claimed, crashed, token, lease);
    const bool has_begun = co_await change(update, claimed, tick_state::running);
    co_return has_begun;
}

asio::awaitable<bool> async_sql_tick_records::withdraw(const tick_claim& claimed) {
    const auto update = tick_statements(db_.dialect()).withdraw(claimed);
    const rows answer = co_await db_.execute(update);
    co_return answer.matched == 1;
}

asio::awaitable<bool> async_sql_tick_records::finish(const tick_claim& claimed, tick_state state,
                                                     int status, const std::string& reason) {
    const auto update =
        tick_statements(db_.dialect()).finish(claimed, state, status, shortened(reason));
    const bool has_ended = co_await change(update, claimed, state);
    co_return has_ended;
}

asio::awaitable<bool> async_sql_tick_records::skip(const tick_claim& claimed,
                                                   const std::string& reason, store_time settled,
                                                   std::uint32_t missed) {
    const tick_statements sql(db_.dialect());
    const auto text = shortened(reason);
    const auto add = sql.add_skipped(claimed, text, settled, missed);
    (void)co_await db_.execute(add);
    const auto update = sql.skip_claimed(claimed, text);
    const bool is_skipped = co_await change(update, claimed, tick_state::skipped);
    co_return is_skipped;
}

asio::awaitable<void> async_sql_tick_records::renew(const tick_claim& claimed, duration lease) {
    const auto update = tick_statements(db_.dialect()).renew(claimed, lease);
    (void)co_await db_.execute(update);
}

asio::awaitable<std::vector<tick_record>> async_sql_tick_records::history(const std::string& name,
                                                                          std::uint32_t most) {
    const auto query = tick_statements(db_.dialect()).history(name, most);
    const rows answer = co_await db_.execute(query);
    co_return records_in(answer);
}

asio::awaitable<void> async_sql_tick_records::purge(const std::string& name, duration keep) {
    const tick_statements sql(db_.dialect());
    const auto query = sql.state_of(name);
    const rows state = co_await db_.execute(query);
    if (is_unknown_schedule(state)) co_return;
    const auto remove = sql.purge(name, keep, state_in(state, {}).settled);
    (void)co_await db_.execute(remove);
}

}  // namespace pawl::guard
