// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "simulated_caller.hpp"

#if PAWL_WITH_SQLITE

#include <pawl/error.hpp>

#include <algorithm>

namespace guard_tests {
namespace {

guard::once_key key_of(const simulated_operation& operation, bool is_other_request) {
    return {operation.key, is_other_request ? "another request" : operation.request(),
            operation.scope};
}

}  // namespace

simulated_caller::simulated_caller(simulated_store& store, simulated_runtime& draws,
                                   simulated_operation& operation,
                                   const guard::once_options& options, bool is_other_request,
                                   std::int64_t& attempt_counter)
    : store_(store),
      draws_(draws),
      operation_(operation),
      options_(options),
      is_other_request_(is_other_request),
      attempt_counter_(attempt_counter),
      generation_(operation.generation),
      operation_name_(operation.name()),
      record_(guard::dialect::sqlite, key_of(operation, is_other_request), options),
      machine_(options, draws) {
    pause(0);
}

bool simulated_caller::step() {
    pause(draws_.draw(20));
    switch (machine_.next()) {
    case step_kind::look:
        try {
            machine_.on_record(
                guard::once_statements::read_record(run(record_.look(machine_.claim_id()))));
        } catch (const pawl::error& failed) {
            // The record of an operation that is over was purged.
            if (is_late() && failed.reason() == pawl::errc::lost) return true;
            throw violation{failed.what()};
        }
        // Perhaps the answer to its claim was lost; then the look has found it.
        if (machine_.next() == step_kind::work && machine_.token() != token_)
            throw violation{"the claim of another caller was taken for its own"};
        // Between a look and what follows from it, anything may happen.
        if (draws_.one_in(6)) pause(draws_.draw(draws_.one_in(4) ? 20'000 : 3000));
        return false;
    case step_kind::claim: return claim();
    case step_kind::exhaust:
        run(record_.exhaust(machine_.token()));
        machine_.on_exhausted();
        return false;
    case step_kind::pause:
        pause(machine_.pause_time() / std::chrono::milliseconds(1) + 1);
        machine_.on_pause_over();
        return false;
    case step_kind::work: return work();
    case step_kind::end: return end();
    }
    return true;
}

// Callers stop before the key is used for another operation, as `keep` requires.
bool simulated_caller::claim() {
    if (is_late() || !operation_.is_open) return true;
    // The first claim decides whose operation it is.
    if (is_other_request_ && operation_.claims == 0) return true;
    const auto answer = run(record_.claim(machine_.begin_claim(), guard::record_state::pending));
    const auto grant = guard::once_statements::read_grant(answer, machine_.claim_id());
    if (grant) on_claimed(grant->token);
    const bool is_lost = draws_.one_in(8);
    machine_.on_grant(is_lost ? std::nullopt : grant);
    return is_lost && draws_.one_in(2);  // the process dies with the answer
}

void simulated_caller::on_claimed(std::int64_t token) {
    if (is_late()) throw violation{"a claim of an operation that is over"};
    if (is_other_request_) throw violation{"another request got the operation"};
    if (!operation_.final_row.empty()) throw violation{"a finished operation was claimed"};
    if (std::max(operation_.lease_end, operation_.pause_end) > simulated_ms)
        throw violation{"a claim while another one lasts"};
    if (token <= operation_.holder_token) throw violation{"a token that does not rise"};
    operation_.holder = attempt_ = ++attempt_counter_;
    operation_.holder_token = token_ = token;
    operation_.lease_end = simulated_ms + options_.lease / std::chrono::milliseconds(1);
    if (++operation_.claims > options_.attempts) throw violation{"more claims than attempts"};
    phase_ = work_phase::begun;
    if (draws_.one_in(3)) pause(draws_.draw(3000));
}

bool simulated_caller::work() {
    if (draws_.one_in(8)) return true;  // the process dies
    switch (phase_) {
    case work_phase::begun:
        if (draws_.one_in(6)) {
            give_up(draws_.draw(2) * 500);
            machine_.on_given_up({});
            return false;
        }
        phase_ = operation_.is_outside ? work_phase::effect_outside : work_phase::finish;
        break;
    case work_phase::effect_outside:
        write_outside();
        phase_ = work_phase::finish;
        break;
    case work_phase::finish: return finish();
    }
    if (draws_.one_in(4)) pause(draws_.draw(3000));
    return false;
}

void simulated_caller::write_outside() {
    if (machine_.token() < operation_.register_token) return;
    operation_.register_token = machine_.token();
    operation_.register_value = attempt_;
}

// What the simulation believes about the claim; the statement decides.
void simulated_caller::give_up(std::int64_t pause_ms) {
    const auto answer = run(record_.give_up(machine_.token(), std::chrono::milliseconds(pause_ms)));
    const bool is_holder = !is_late() && operation_.holder == attempt_;
    if (answer.matched != 0 && !is_holder) throw violation{"a late attempt gave a claim up"};
    if (answer.matched == 0) return;
    operation_.lease_end = 0;
    operation_.pause_end = simulated_ms + pause_ms;
}

bool simulated_caller::finish() {
    const bool is_rejected = draws_.one_in(8);
    const auto state = is_rejected ? guard::record_state::failed : guard::record_state::done;
    const auto last =
        record_.finish(machine_.token(), guard::record_state::pending, state, result());
    const bool is_inside = !operation_.is_outside && !is_rejected;
    const bool is_recorded = is_inside ? finish_inside(last) : run(last).matched == 1;
    if (!is_recorded) {
        machine_.on_taken_over();
        return false;
    }
    if (is_late() || operation_.holder != attempt_) throw violation{"a late attempt ended it"};
    if (operation_.recorded_by != 0) throw violation{"an operation ended twice"};
    operation_.recorded_by = attempt_;
    operation_.lease_end = 0;
    operation_.finished_at = simulated_ms;
    if (is_rejected)
        machine_.on_rejected(result());
    else
        machine_.on_done(result(), true);
    return draws_.one_in(4);  // the answer is lost with the process
}

bool simulated_caller::finish_inside(const guard::statement& last) {
    store_.truth().execute({"BEGIN"});
    store_.truth().execute({"INSERT INTO effects VALUES(?1, ?2)", {operation_name_, attempt_}});
    const bool is_recorded = run(last).matched == 1;
    store_.truth().execute({is_recorded ? "COMMIT" : "ROLLBACK"});
    if (!is_recorded) return false;
    if (!is_late() && operation_.effect_by != 0) throw violation{"two effects of one operation"};
    if (is_late()) throw violation{"an effect of an operation that is over"};
    operation_.effect_by = attempt_;
    return true;
}

// What the caller is told must be what has happened.
bool simulated_caller::end() {
    const auto& told = machine_.result();
    if (is_late()) return true;
    if (told.state == guard::once_state::mismatch && !is_other_request_ && !is_late())
        throw violation{"the right request was refused"};
    if (is_other_request_ && told.state != guard::once_state::mismatch &&
        told.state != guard::once_state::running)
        throw violation{"another request got an answer"};
    const bool has_effect =
        told.state == guard::once_state::done || told.state == guard::once_state::replayed;
    if (has_effect &&
        told.value != operation_name_ + " by " + std::to_string(operation_.recorded_by))
        throw violation{"a result that is not the recorded one: " + told.value};
    return true;
}

}  // namespace guard_tests

#endif
