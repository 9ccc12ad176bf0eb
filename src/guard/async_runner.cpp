// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "async_runner.hpp"

#include "async_pause.hpp"
#include "async_rollback.hpp"
#include "once_outcome.hpp"
#include "tables.hpp"
#include "transaction_statements.hpp"

#include <utility>

namespace pawl::guard {

namespace asio = boost::asio;

async_runner::async_runner(async_connection& db, const once_key& operation,
                           const once_options& options, std::stop_token lost)
    : db_(db),
      operation_(operation),
      options_(options),
      lost_(std::move(lost)),
      record_(db.dialect(), operation, options),
      machine_(options, spi::real_runtime()) {
    check_once(operation, options, db.in_transaction());
}

asio::awaitable<void> async_runner::look() {
    const auto select = record_.look(machine_.claim_id());
    const rows answer = co_await db_.execute(select);
    machine_.on_record(once_statements::read_record(answer));
}

asio::awaitable<void> async_runner::claim_record() {
    const auto upsert = record_.claim(machine_.begin_claim(), record_state::pending);
    const rows answer = co_await db_.execute(upsert);
    machine_.on_grant(once_statements::read_grant(answer, machine_.claim_id()));
}

asio::awaitable<void> async_runner::exhaust() {
    const auto update = record_.exhaust(machine_.token());
    co_await db_.execute(update);
    machine_.on_exhausted();
}

asio::awaitable<void> async_runner::pause() {
    co_await async_pause(spi::real_runtime(), machine_.pause_time());
    machine_.on_pause_over();
}

asio::awaitable<void> async_runner::run_step() {
    switch (machine_.next()) {
    case step::look: co_await look(); break;
    case step::claim: co_await claim_record(); break;
    case step::exhaust: co_await exhaust(); break;
    case step::pause: co_await pause(); break;
    case step::work:
    case step::end: break;
    }
}

asio::awaitable<void> async_runner::advance_to_work() {
    for (;;) {
        try {
            co_await table_checks::require(db_, once_table);
            while (machine_.next() != step::work && machine_.next() != step::end)
                co_await run_step();
            co_return;
        } catch (const conflict&) {
            if (!machine_.repeats_step()) throw;
        }
    }
}

attempt async_runner::current() const { return machine_.attempt_of(operation_, lost_); }

asio::awaitable<once_result> async_runner::run(const async_once_work& work, bool is_inside) {
    for (;;) {
        co_await advance_to_work();
        if (machine_.next() == step::end) co_return std::move(machine_.result());
        std::exception_ptr failure;
        bool repeats = false;
        try {
            if (is_inside)
                co_await work_inside(work);
            else
                co_await work_outside(work);
        } catch (const conflict&) {
            repeats = is_inside && machine_.repeats_work();
            failure = std::current_exception();
        } catch (...) {
            failure = std::current_exception();
        }
        if (!failure || repeats) continue;
        const auto state = co_await asio::this_coro::cancellation_state;
        if (is_cancelled(state)) co_await asio::this_coro::reset_cancellation_state();
        co_await after_failure(failure);
    }
}

asio::awaitable<once_claim> async_runner::claim() {
    co_await advance_to_work();
    once_claim claimed;
    if (machine_.next() == step::work)
        claimed.attempt = current();
    else
        claimed.known = std::move(machine_.result());
    co_return claimed;
}

asio::awaitable<std::optional<once_result>> async_runner::replay() {
    try {
        co_await table_checks::require(db_, once_table);
        const auto select = record_.look(machine_.claim_id());
        const rows answer = co_await db_.execute(select);
        co_return machine_.replay_of(once_statements::read_record(answer));
    } catch (const conflict&) {  // the look under the lock is repeated
    }
    co_return std::nullopt;
}

// A record without a lease is claimed in the transaction of its effect.
asio::awaitable<bool> async_runner::claim_inside() {
    const auto claim_id = machine_.begin_claim();
    const auto upsert = record_.claim(claim_id, record_state::done);
    const rows answer = co_await db_.execute(upsert);
    if (const auto grant = once_statements::read_grant(answer, claim_id)) {
        machine_.on_inside_grant(*grant);
        co_return true;
    }
    if (db_.dialect() != dialect::mysql) co_return false;
    const auto select = record_.look(claim_id, true);
    const rows present_rows = co_await db_.execute(select);
    const auto present = once_statements::read_record(present_rows);
    if (!present || !present->is_own_claim) co_return false;
    machine_.on_inside_grant({present->token, present->attempts});
    co_return true;
}

// False: another caller has taken the operation over.
asio::awaitable<bool> async_runner::commit(const outcome& result) {
    if (!db_.in_transaction()) throw ended_transaction_error();
    const auto last = *final_statement(record_, machine_.token(), result, options_);
    const rows answer = co_await db_.execute(last);
    if (answer.matched != 1) co_return false;
    const statement end_of_effect{"COMMIT"};
    is_committing_ = true;
    co_await db_.execute(end_of_effect);
    is_committing_ = false;
    co_return true;
}

// The work's answer if its transaction is not committed; nothing if it was, or if another caller
// has taken the operation over. The caller rolls back what is left.
asio::awaitable<std::optional<outcome>> async_runner::run_effect(const async_once_work& work) {
    const auto begin = begin_statement(db_.dialect());
    co_await db_.execute(begin);
    if (machine_.claims_inside()) {
        const bool is_claimed = co_await claim_inside();
        if (!is_claimed) {
            machine_.on_taken_over();
            co_return std::nullopt;
        }
    }
    const attempt claimed = current();
    outcome result = co_await work(claimed);
    const auto* text = std::get_if<std::string>(&result);
    if (text == nullptr) co_return result;
    check_result(*text, options_);
    const bool is_committed = co_await commit(result);
    if (is_committed)
        machine_.on_done(*text, true);
    else
        machine_.on_taken_over();
    co_return std::nullopt;
}

asio::awaitable<void> async_runner::work_inside(const async_once_work& work) {
    is_committing_ = false;
    std::optional<outcome> result;
    std::exception_ptr failure;
    try {
        result = co_await run_effect(work);
    } catch (...) {
        failure = std::current_exception();
    }
    const auto state = co_await asio::this_coro::cancellation_state;
    if (is_cancelled(state)) co_await asio::this_coro::reset_cancellation_state();
    co_await roll_back(db_);
    if (failure) std::rethrow_exception(failure);
    if (!result) co_return;
    if (machine_.claims_inside())
        co_await reject_inside(*result);
    else
        co_await record_outside(*result);
}

// The record was rolled back with its effect, and is made again without one.
asio::awaitable<void> async_runner::reject_inside(const outcome& result) {
    if (const auto* later = std::get_if<retry_after>(&result)) {
        machine_.on_given_up(later->pause);
        co_return;
    }
    std::exception_ptr failure;
    try {
        co_await reject_in_transaction(result);
    } catch (...) {
        failure = std::current_exception();
    }
    const auto state = co_await asio::this_coro::cancellation_state;
    if (is_cancelled(state)) co_await asio::this_coro::reset_cancellation_state();
    co_await roll_back(db_);
    if (failure) std::rethrow_exception(failure);
}

asio::awaitable<void> async_runner::reject_in_transaction(const outcome& result) {
    const auto begin = begin_statement(db_.dialect());
    co_await db_.execute(begin);
    const bool is_claimed = co_await claim_inside();
    bool is_committed = false;
    if (is_claimed) is_committed = co_await commit(result);
    const auto& why = std::get<rejected>(result).why;
    if (is_committed)
        machine_.on_rejected(why, is_stored(why, options_));
    else
        machine_.on_taken_over();
}

asio::awaitable<void> async_runner::work_outside(const async_once_work& work) {
    const attempt claimed = current();
    const outcome result = co_await work(claimed);
    if (db_.in_transaction()) throw left_transaction_error();
    // The effect has happened: no cancellation keeps it from being recorded.
    auto state = co_await asio::this_coro::cancellation_state;
    if (is_cancelled(state)) co_await asio::this_coro::reset_cancellation_state();
    auto recording = record_outside(result);
    co_await run_uncancelled(std::move(recording));
    state = co_await asio::this_coro::cancellation_state;
    if (is_cancelled(state)) co_await asio::this_coro::reset_cancellation_state();
}

// Repeats the statement.
asio::awaitable<void> async_runner::record_outside(const outcome& result) {
    if (const auto* later = std::get_if<retry_after>(&result)) {
        const auto give_up = record_.give_up(machine_.token(), later->pause);
        co_await db_.execute(give_up);
        machine_.on_given_up(later->pause);
        co_return;
    }
    const auto last = *final_statement(record_, machine_.token(), result, options_);
    std::uint64_t matched = 0;
    for (bool is_answered = false; !is_answered;) {
        try {
            const rows answer = co_await db_.execute(last);
            matched = answer.matched;
            is_answered = true;
        } catch (const conflict&) {
            if (!machine_.repeats_work()) throw;
        }
        if (!is_answered) co_await pause();
    }
    if (matched != 1) {
        machine_.on_taken_over();
    } else if (const auto* refusal = std::get_if<rejected>(&result)) {
        machine_.on_rejected(refusal->why, is_stored(refusal->why, options_));
    } else {
        const auto& text = std::get<std::string>(result);
        machine_.on_done(text, is_stored(text, options_));
    }
}

// As sync_runner::after_failure.
asio::awaitable<void> async_runner::after_failure(std::exception_ptr failure) {
    try {
        const auto give_up = record_.give_up(machine_.token(), {});
        std::uint64_t matched = 0;
        if (!machine_.claims_inside()) {
            const rows answer = co_await db_.execute(give_up);
            matched = answer.matched;
        }
        if (std::exchange(is_committing_, false) && matched == 0) {
            const auto select = record_.look(machine_.claim_id());
            const rows answer = co_await db_.execute(select);
            if (machine_.ends_with(once_statements::read_record(answer))) co_return;
        }
    } catch (...) {  // the claim ends with its lease
    }
    std::rethrow_exception(failure);
}

}  // namespace pawl::guard
