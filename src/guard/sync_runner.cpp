// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "sync_runner.hpp"

#include "once_outcome.hpp"
#include "pause.hpp"
#include "tables.hpp"
#include "transaction_statements.hpp"

#include <utility>

namespace pawl::guard {

sync_runner::sync_runner(connection& db, const once_key& operation, const once_options& options,
                         std::stop_token cancel, std::stop_token lost)
    : db_(db),
      operation_(operation),
      options_(options),
      cancel_(std::move(cancel)),
      lost_(std::move(lost)),
      record_(db.dialect(), operation, options),
      machine_(options, spi::real_runtime()) {
    check_once(operation, options, db.in_transaction());
}

void sync_runner::look() {
    machine_.on_record(
        once_statements::read_record(db_.execute(record_.look(machine_.claim_id()))));
}

void sync_runner::claim_record() {
    const auto claim = record_.claim(machine_.begin_claim(), record_state::pending);
    machine_.on_grant(once_statements::read_grant(db_.execute(claim), machine_.claim_id()));
}

void sync_runner::pause() {
    pause_for(machine_.pause_time(), cancel_);
    machine_.on_pause_over();
}

void sync_runner::run_step() {
    switch (machine_.next()) {
    case step::look: look(); break;
    case step::claim: claim_record(); break;
    case step::exhaust:
        db_.execute(record_.exhaust(machine_.token()));
        machine_.on_exhausted();
        break;
    case step::pause: pause(); break;
    case step::work:
    case step::end: break;
    }
}

void sync_runner::advance_to_work() {
    for (;;) {
        try {
            table_checks::require(db_, once_table);
            while (machine_.next() != step::work && machine_.next() != step::end)
                run_step();
            return;
        } catch (const conflict&) {
            if (!machine_.repeats_step()) throw;
        }
    }
}

attempt sync_runner::current() const { return machine_.attempt_of(operation_, lost_); }

once_result sync_runner::run(const once_work& work, bool is_inside) {
    for (;;) {
        advance_to_work();
        if (machine_.next() == step::end) return std::move(machine_.result());
        try {
            if (is_inside)
                work_inside(work);
            else
                work_outside(work);
        } catch (const conflict&) {
            if (is_inside && machine_.repeats_work()) continue;
            after_failure(std::current_exception());
        } catch (...) {
            after_failure(std::current_exception());
        }
    }
}

once_claim sync_runner::claim() {
    advance_to_work();
    if (machine_.next() == step::work) return {.attempt = current()};
    return {.known = std::move(machine_.result())};
}

std::optional<once_result> sync_runner::replay() {
    try {
        table_checks::require(db_, once_table);
        const auto answer = db_.execute(record_.look(machine_.claim_id()));
        return machine_.replay_of(once_statements::read_record(answer));
    } catch (const conflict&) {  // the look under the lock is repeated
        return std::nullopt;
    }
}

// A record without a lease is claimed in the transaction of its effect.
bool sync_runner::claim_inside() {
    const auto& claim_id = machine_.begin_claim();
    const auto answer = db_.execute(record_.claim(claim_id, record_state::done));
    if (const auto grant = once_statements::read_grant(answer, claim_id)) {
        machine_.on_inside_grant(*grant);
        return true;
    }
    if (db_.dialect() != dialect::mysql) return false;
    const auto present = once_statements::read_record(db_.execute(record_.look(claim_id, true)));
    if (!present || !present->is_own_claim) return false;
    machine_.on_inside_grant({present->token, present->attempts});
    return true;
}

// False: another caller has taken the operation over.
bool sync_runner::commit(transaction& effect, const outcome& result) {
    effect.require_open();
    const auto last = *final_statement(record_, machine_.token(), result, options_);
    if (db_.execute(last).matched != 1) return false;
    is_committing_ = true;
    effect.commit();
    is_committing_ = false;
    return true;
}

void sync_runner::work_inside(const once_work& work) {
    is_committing_ = false;
    outcome result;
    {
        transaction effect(db_);
        if (machine_.claims_inside() && !claim_inside()) return machine_.on_taken_over();
        result = work(current());
        if (const auto* text = std::get_if<std::string>(&result)) {
            check_result(*text, options_);
            if (!commit(effect, result)) return machine_.on_taken_over();
            return machine_.on_done(*text, true);
        }
    }
    if (machine_.claims_inside())
        reject_inside(result);
    else
        record_outside(result);
}

// The record was rolled back with its effect, and is made again without one.
void sync_runner::reject_inside(const outcome& result) {
    if (const auto* later = std::get_if<retry_after>(&result))
        return machine_.on_given_up(later->pause);
    transaction rejection(db_);
    if (!claim_inside() || !commit(rejection, result)) return machine_.on_taken_over();
    const auto& why = std::get<rejected>(result).why;
    machine_.on_rejected(why, is_stored(why, options_));
}

void sync_runner::work_outside(const once_work& work) {
    const auto result = work(current());
    if (db_.in_transaction()) throw left_transaction_error();
    record_outside(result);
}

// Repeats the statement, also after a stop: the effect has happened.
void sync_runner::record_outside(const outcome& result) {
    if (const auto* later = std::get_if<retry_after>(&result)) {
        db_.execute(record_.give_up(machine_.token(), later->pause));
        return machine_.on_given_up(later->pause);
    }
    const auto last = *final_statement(record_, machine_.token(), result, options_);
    for (;;) {
        try {
            if (db_.execute(last).matched != 1) return machine_.on_taken_over();
            break;
        } catch (const conflict&) {
            if (!machine_.repeats_work()) throw;
            pause_for(machine_.pause_time(), {});
            machine_.on_pause_over();
        }
    }
    if (const auto* refusal = std::get_if<rejected>(&result))
        return machine_.on_rejected(refusal->why, is_stored(refusal->why, options_));
    const auto& text = std::get<std::string>(result);
    machine_.on_done(text, is_stored(text, options_));
}

bool sync_runner::has_ended() {
    const auto answer = db_.execute(record_.look(machine_.claim_id()));
    return machine_.ends_with(once_statements::read_record(answer));
}

// Gives the claim up. If it is not there any more, a commit whose answer was an error may have
// succeeded, and a look tells.
void sync_runner::after_failure(const std::exception_ptr& failure) {
    try {
        const auto give_up = record_.give_up(machine_.token(), {});
        const bool is_gone = machine_.claims_inside() || db_.execute(give_up).matched == 0;
        if (std::exchange(is_committing_, false) && is_gone && has_ended()) return;
    } catch (...) {  // the claim ends with its lease
    }
    std::rethrow_exception(failure);
}

}  // namespace pawl::guard
