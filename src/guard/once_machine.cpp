// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "once_machine.hpp"

#include <pawl/error.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace pawl::guard {
namespace {

using namespace std::chrono_literals;

constexpr duration first_pause = 2ms, longest_pause = 500ms;
// A short wait does not make a conflict an error at once.
constexpr std::uint32_t least_conflicts = 5;
constexpr std::size_t claim_bytes = 16;

// As for the leases of locks: clocks of two machines differ.
duration drift(duration lease) { return lease / 100 + 2ms; }

[[noreturn]] void refuse(const std::string& sentence) { throw error(errc::bad_option, sentence); }

}  // namespace

void check_once(const once_key& operation, const once_options& options, bool is_in_transaction) {
    if (operation.key.empty() || operation.key.size() > 255)
        refuse("The key of `once` has " + std::to_string(operation.key.size()) +
               " bytes; it must have 1 to 255.");
    if (operation.scope.size() > 64)
        refuse("The scope of `once` has " + std::to_string(operation.scope.size()) +
               " bytes; it may have up to 64.");
    if (options.lease != 0ns && (options.lease < 100ms || options.lease > 24h))
        refuse("The lease of `once` must be 0, or between 100 ms and 24 h.");
    if (options.keep < 2 * options.lease || options.keep < 1ms || options.keep > 24h * 3653)
        refuse("`keep` of `once` must be at least twice the lease, and at most ten years.");
    if (options.wait < 0ns) refuse("The wait of `once` is less than 0; 0 means one look.");
    if (options.attempts == 0 || options.attempts > 1'000'000'000)
        refuse("The attempts of `once` must be between 1 and 1,000,000,000.");
    if (options.largest_result > 16U << 20)
        refuse("The largest result of `once` must be at most 16 MiB; store larger ones elsewhere.");
    if (is_in_transaction)
        throw error(errc::unsupported,
                    "`once` was called inside an open transaction, or without autocommit; its "
                    "claim must be committed before the work begins, so commit first, and use a "
                    "connection in one thread only.");
}

void check_outside(const once_options& options) {
    if (options.lease == 0ns)
        refuse(
            "The lease must be between 100 ms and 24 h; 0 is for `once`, whose record begins in "
            "the effect's transaction.");
}

time_point end_of_wait(const once_options& options, spi::runtime& time) {
    const auto now = time.now();
    return options.wait > time_point::max() - now ? time_point::max() : now + options.wait;
}

once_machine::once_machine(const once_options& options, spi::runtime& time)
    : options_(options),
      time_(time),
      give_up_at_(end_of_wait(options, time)),
      next_(options.looks_first ? step::look : first_attempt()),
      claim_id_(claim_bytes, '\0'),
      back_off_(first_pause) {}

const std::string& once_machine::begin_claim() {
    std::array<std::byte, claim_bytes> random{};
    time_.random(random);
    std::ranges::transform(random, claim_id_.begin(), [](std::byte each) {
        return static_cast<char>(std::to_integer<unsigned char>(each));
    });
    was_taken_over_ = false;
    sent_ = time_.now();
    return claim_id_;
}

void once_machine::end(once_state state, std::string text) {
    result_.state = state;
    result_.value = std::move(text);
    next_ = step::end;
}

// Half of a pause is random, so that callers who began together do not stay together.
void once_machine::pause_then(step following, duration longest) {
    std::array<std::byte, 2> random{};
    time_.random(random);
    const auto part = std::to_integer<int>(random[0]) << 8 | std::to_integer<int>(random[1]);
    pause_ = back_off_ / 2 + back_off_ / 2 * part / 65536;
    pause_ = std::min(pause_, std::max(longest, duration(1ms)));
    back_off_ = std::min(back_off_ * 2, longest_pause);
    after_pause_ = following;
    next_ = step::pause;
}

void once_machine::on_record(const std::optional<record_view>& record) {
    if (!record) return judge_missing();
    if (!record->is_same_request) return end(once_state::mismatch);
    if (record->state == record_state::pending) return judge_pending(*record);
    // The answer to this caller's own commit may have been lost.
    const auto done = record->is_own_claim ? once_state::done : once_state::replayed;
    end(record->state == record_state::failed ? once_state::failed : done,
        record->result.value_or(std::string()));
    result_.has_value = record->result.has_value();
}

std::optional<once_result> once_machine::replay_of(const std::optional<record_view>& record) {
    if (!record) return std::nullopt;
    if (record->state == record_state::pending && record->is_same_request) return std::nullopt;
    on_record(record);
    return std::move(result_);
}

bool once_machine::ends_with(const std::optional<record_view>& record) {
    if (!record || record->state == record_state::pending) return false;
    on_record(record);
    return true;
}

// Claims of other callers, or a claim that was not kept, may have been in between.
bool once_machine::has_no_more_tries() {
    return was_refused_ && ++refusals_ >= least_conflicts && time_.now() >= give_up_at_;
}

void once_machine::claim_again() {
    next_ = first_attempt();
    if (was_refused_) pause_then(next_, longest_pause);
}

// A record ends before it is removed. So after a work, there was an end that this caller does not
// know, and it must not begin the operation again.
void once_machine::judge_missing() {
    if (was_taken_over_ && !claims_inside())
        throw error(errc::lost,
                    "The record of the operation was removed while its work ran: `keep` was over, "
                    "or the server has lost data. Look whether there is an effect, then call "
                    "again.");
    if (has_no_more_tries())
        throw error(errc::protocol,
                    "The record of the operation is not there after it was written; look for a "
                    "trigger or a rule at the table pawl_once.");
    claim_again();
}

void once_machine::judge_pending(const record_view& record) {
    if (record.is_own_claim && !claims_inside() && record.lease_left > duration{}) {
        if (was_taken_over_)
            throw error(errc::protocol,
                        "The record of the operation did not change at its end; look for a "
                        "trigger or a rule at the table pawl_once, and whether the connection "
                        "counts the rows of an UPDATE.");
        on_grant(claim_grant{record.token, record.attempts});
        return;
    }
    const auto now = time_.now();
    if (record.lease_left > duration{}) {
        if (now >= give_up_at_) {
            end(once_state::running);
            result_.retry_in = record.lease_left;
            return;
        }
        pause_then(step::look, std::min(record.lease_left, give_up_at_ - now));
        return;
    }
    if (record.attempts >= options_.attempts) {
        token_ = record.token;
        next_ = step::exhaust;
        return;
    }
    if (has_no_more_tries()) return end(once_state::running);
    claim_again();
}

void once_machine::on_grant(const std::optional<claim_grant>& grant) {
    was_refused_ = !grant;
    if (!grant) {
        next_ = step::look;
        return;
    }
    token_ = grant->token;
    attempts_ = grant->attempts;
    safe_until_ = sent_ + options_.lease - drift(options_.lease);
    conflicts_ = refusals_ = 0;
    back_off_ = first_pause;
    next_ = step::work;
}

attempt once_machine::attempt_of(const once_key& operation, std::stop_token lost) const {
    return {operation.scope, operation.key, fencing_token(static_cast<std::uint64_t>(token_)),
            attempts_,       safe_until_,   std::move(lost)};
}

void once_machine::on_inside_grant(const claim_grant& grant) noexcept {
    token_ = grant.token;
    attempts_ = grant.attempts;
    safe_until_ = time_point::max();  // the transaction itself keeps others away
}

bool once_machine::repeats_step() {
    if (++conflicts_ >= least_conflicts && time_.now() >= give_up_at_) return false;
    pause_then(step::look, longest_pause);
    return true;
}

bool once_machine::repeats_work() {
    const auto limit = claims_inside() ? give_up_at_ : safe_until_;
    if (++conflicts_ >= least_conflicts && time_.now() >= limit) return false;
    pause_then(claims_inside() ? step::look : step::work, longest_pause);
    return true;
}

void once_machine::on_done(std::string result, bool is_stored) {
    end(once_state::done, std::move(result));
    result_.has_value = is_stored;
}

void once_machine::on_rejected(std::string why, bool is_stored) {
    end(once_state::failed, std::move(why));
    result_.has_value = is_stored;
}

void once_machine::on_given_up(duration pause) {
    end(once_state::running);
    result_.retry_in = pause;
}

void once_machine::on_taken_over() {
    was_refused_ = was_taken_over_ = true;
    next_ = step::look;
}

}  // namespace pawl::guard
