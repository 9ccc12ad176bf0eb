// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "acquire_calls.hpp"

#include "redis_scripts.hpp"

#include "../../scripting/reply_reader.hpp"
#include "../../transport/numbers.hpp"

#include "../../../core/store/permits.hpp"

#include <pawl/error.hpp>

#include <array>
#include <limits>
#include <utility>

namespace pawl::redis::native {
namespace {

constexpr auto any_number = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t longest_place_ms = 60'000;  // of a place in the queue

queue_state read_queue_state(const reply_reader& from) {
    return {from.at(1).integer(any_number), from.at(2).number(0), from.at(3).integer(0)};
}

// For the caller's own grant; the grants to waiters always have a token.
std::string_view floor_of(const server_words& words, bool fenced) noexcept {
    return fenced ? std::string_view(words.token_floor) : std::string_view();
}

acquire_reply read_acquire(const reply_reader& from, bool names_waiter, int highest_status) {
    acquire_reply result;
    switch (from.at(0).integer(0, highest_status)) {
    case 0:
        from.expect_size(names_waiter ? 4 : 2);
        if (names_waiter) result.queued = read_queue_state(from);
        break;
    case 1:
        from.expect_size(2);
        result.granted = true;
        result.token = from.at(1).token();
        break;
    case 2:
        from.expect_size(2);
        result.refusal = permits_refusal::too_few;
        result.total_permits = from.at(1).permits();
        break;
    case 3:
        from.expect_size(2);
        result.refusal = permits_refusal::other_total;
        result.total_permits = from.at(1).permits();
        break;
    default: from.expect_size(1); result.refusal = permits_refusal::no_total;
    }
    return result;
}

}  // namespace

script_call acquire_call::command(const server_words& words) const {
    const auto floor = floor_of(words, fenced);
    if (waiter.empty())
        return {scripts::acquire, {lock_keys.lock(), lock_keys.fence()}, {value, ttl_ms, floor}};
    return {scripts::acquire,
            {lock_keys.lock(), lock_keys.fence(), lock_keys.queue(), lock_keys.waiters()},
            {value, ttl_ms, floor, waiter, value_prefix, claim_window_ms, place_ms}};
}

acquire_reply acquire_call::read(const reply& from) const {
    const reply_reader reader(scripts::acquire, from, lock_keys.lock());
    if (!reader.is_text()) return read_acquire(reader, !waiter.empty(), 0);
    acquire_reply result;
    result.granted = true;
    result.token = reader.token();
    return result;
}

script_call acquire_any_mode_call::command(const server_words& words) const {
    const auto& a = acquire;
    return {scripts::acquire_any_mode, a.lock_keys.all(),
            std::array<std::string_view, 12>{a.value, a.ttl_ms, floor_of(words, a.fenced), a.waiter,
                                             a.value_prefix, a.claim_window_ms, a.place_ms,
                                             words.channel_prefix, words.token_floor, mode,
                                             total_permits, words.run}};
}

acquire_reply acquire_any_mode_call::read(const reply& from) const {
    return read_acquire({scripts::acquire_any_mode, from, acquire.lock_keys.lock()},
                        !acquire.waiter.empty(), 4);
}

script_call refresh_call::command(const server_words& words) const {
    return {scripts::refresh, lock_keys.all(),
            std::array<std::string_view, 11>{
                words.token_floor, words.channel_prefix, waiter, value_prefix, claim_window_ms,
                place_ms, first_place_ms, far_place_ms, mode, total_permits, words.run}};
}

refresh_reply refresh_call::read(const reply& from) const {
    const reply_reader reader(scripts::refresh, from, lock_keys.lock());
    refresh_reply result;
    switch (reader.at(0).integer(0, 4)) {
    case 0:
        reader.expect_size(5);
        result.queued = read_queue_state(reader);
        result.queued->place_duration = milliseconds_of(reader.at(4).number(0, longest_place_ms));
        break;
    case 1:
        reader.expect_size(4);
        result.granted = true;
        result.token = reader.at(1).token();
        result.since_ms = reader.at(2).number(0);
        result.left_ms = reader.at(3).integer(any_number);
        break;
    case 2:
        reader.expect_size(2);
        result.refusal = permits_refusal::too_few;
        result.total_permits = reader.at(1).permits();
        break;
    case 4:
        reader.expect_size(1);
        result.refusal = permits_refusal::no_total;
        break;
    default: reader.fail();
    }
    return result;
}

script_call leave_call::command(const server_words& words) const {
    return {scripts::leave, lock_keys.all(),
            std::array<std::string_view, 6>{words.token_floor, words.channel_prefix, waiter,
                                            value_prefix, kept_value, words.run}};
}

bool leave_call::read(const reply& from) const {
    return reply_reader(scripts::leave, from, lock_keys.lock()).flag();
}

script_call adopt_call::command(const server_words& words) const {
    return {scripts::adopt,
            {lock_keys.lock(), lock_keys.fence()},
            {value, ttl_ms, floor_of(words, fenced)}};
}

std::optional<fencing_token> adopt_call::read(const reply& from) const {
    const reply_reader reader(scripts::adopt, from, lock_keys.lock());
    if (!reader.at(0).flag()) {
        reader.expect_size(1);
        return std::nullopt;
    }
    reader.expect_size(2);
    return reader.at(1).token();
}

script_call acquire_batch_call::command(const server_words& words) const {
    std::vector<std::string_view> keys;
    std::vector<std::string_view> arguments{ttl_ms, floor_of(words, fenced)};
    keys.reserve(2 * locks.size());
    arguments.reserve(2 + locks.size());
    for (const auto& each : locks) {
        keys.insert(keys.end(), {each.lock_keys.lock(), each.lock_keys.fence()});
        arguments.push_back(each.value);
    }
    return {scripts::acquire_batch, keys, arguments};
}

std::vector<fencing_token> acquire_batch_call::read(const reply& from) const {
    const reply_reader reader(scripts::acquire_batch, from, "Several locks");
    std::vector<fencing_token> tokens;
    if (!reader.at(0).flag()) {
        reader.expect_size(2);
        (void)reader.at(1).integer(1, static_cast<std::int64_t>(locks.size()));
        return tokens;
    }
    reader.expect_size(1 + locks.size());
    tokens.reserve(locks.size());
    for (std::size_t i = 0; i < locks.size(); ++i)
        tokens.push_back(reader.at(1 + i).token());
    return tokens;
}

grant make_grant(const claim& requested, const acquire_reply& reply, std::string&& value,
                 time_point sent_at) noexcept {
    grant result;
    result.deadline = sent_at + requested.ttl - drift(requested.ttl);
    result.token = reply.token;
    result.stored_value = std::move(value);
    return result;
}

void throw_permits_error(permits_refusal refusal, std::uint32_t stored_total, claim requested) {
    // Only `other_total` means that the caller's total is wrong.
    if (refusal != permits_refusal::other_total) requested.total_permits = 0;
    static_cast<void>(core::check_total(requested, stored_total));
    throw error(errc::protocol, requested.name +
                                    ": the server refuses permits that its own total allows; run "
                                    "`pawl doctor` to see what kind of server this is.");
}

}  // namespace pawl::redis::native
