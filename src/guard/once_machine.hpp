// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The protocol of `once`, without I/O: what to do next, and what the answers mean. A driver runs
// the statements, the pauses and the work.
#pragma once

#include "once_statements.hpp"

#include <pawl/spi/runtime.hpp>

namespace pawl::guard {

// Refuses what cannot be used, with a sentence.
void check_once(const once_key& operation, const once_options& options, bool is_in_transaction);
// Refuses a lease of 0 where the effect is not in the record's transaction.
void check_outside(const once_options& options);
// Of a wait that begins now. One without a limit ends at time_point::max().
[[nodiscard]] time_point end_of_wait(const once_options& options, spi::runtime& time);

class once_machine {
public:
    enum class step : std::uint8_t {
        look,     // read the record, then on_record
        claim,    // begin_claim, then on_grant, or on_record of a look
        exhaust,  // end a record without attempts left, then on_exhausted
        work,     // run the work, then one of the functions below
        pause,    // wait for pause_time, then on_pause_over
        end       // result
    };

    once_machine(const once_options& options, spi::runtime& time);

    [[nodiscard]] step next() const noexcept { return next_; }

    // A new number for the claim that is now sent. Its lease counts from this moment.
    [[nodiscard]] const std::string& begin_claim();
    [[nodiscard]] const std::string& claim_id() const noexcept { return claim_id_; }
    void on_record(const std::optional<record_view>& record);
    // Without a claim: the result of an operation that has ended, or was another request's.
    [[nodiscard]] std::optional<once_result> replay_of(const std::optional<record_view>& record);
    // The record after a commit whose answer was an error: true if the operation has ended.
    [[nodiscard]] bool ends_with(const std::optional<record_view>& record);
    // Nothing: the database says no more than that the claim was not granted.
    void on_grant(const std::optional<claim_grant>& grant);
    void on_exhausted() noexcept { next_ = step::look; }
    void on_pause_over() noexcept { next_ = after_pause_; }
    [[nodiscard]] duration pause_time() const noexcept { return pause_; }

    // After a `conflict` of a look, a claim or an exhaustion: true if it is repeated, after a
    // pause.
    [[nodiscard]] bool repeats_step();
    // After a `conflict` of the effect's transaction: true if the transaction is repeated under the
    // same claim, after a pause.
    [[nodiscard]] bool repeats_work();

    // Of the step `work`. `lost` is that of the lock in front.
    [[nodiscard]] attempt attempt_of(const once_key& operation, std::stop_token lost) const;
    // Of the step `work`, and the step of exhaustion.
    [[nodiscard]] std::int64_t token() const noexcept { return token_; }
    [[nodiscard]] std::uint32_t number() const noexcept { return attempts_; }
    [[nodiscard]] time_point safe_until() const noexcept { return safe_until_; }
    // A record that begins in the effect's transaction is claimed there.
    [[nodiscard]] bool claims_inside() const noexcept { return options_.lease == duration{}; }
    void on_inside_grant(const claim_grant& grant) noexcept;

    // The ends of the work: its effect is recorded; it is rejected for good; it gave the claim up;
    // another caller has taken the operation over.
    void on_done(std::string result, bool is_stored);
    void on_rejected(std::string why, bool is_stored = true);
    void on_given_up(duration pause);
    void on_taken_over();

    [[nodiscard]] once_result& result() noexcept { return result_; }

private:
    [[nodiscard]] step first_attempt() const noexcept {
        return claims_inside() ? step::work : step::claim;
    }
    void end(once_state state, std::string text = {});
    void pause_then(step following, duration longest);
    void judge_missing();
    void judge_pending(const record_view& record);
    void claim_again();
    [[nodiscard]] bool has_no_more_tries();

    const once_options options_;
    spi::runtime& time_;
    const time_point give_up_at_;
    step next_, after_pause_ = step::look;
    std::string claim_id_;
    time_point sent_{}, safe_until_{};
    duration pause_{}, back_off_;
    std::int64_t token_ = 0;
    std::uint32_t attempts_ = 0, conflicts_ = 0, refusals_ = 0;
    bool was_refused_ = false;     // the last claim was not granted
    bool was_taken_over_ = false;  // the work of the last claim could not end the record
    once_result result_{};
};

}  // namespace pawl::guard
