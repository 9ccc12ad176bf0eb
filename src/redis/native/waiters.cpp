// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "waiters.hpp"

#include "../common/values.hpp"
#include "../topology/epoch.hpp"
#include "../transport/numbers.hpp"

#include "../../core/util/clock_token.hpp"

using namespace std::chrono_literals;

namespace pawl::redis::native {

void waiter_table::add(waiter& entry) {
    by_owner_.emplace(entry.record->owner(), &entry);
    by_name_.emplace(entry.name, &entry);
}

void waiter_table::remove(waiter& entry) {
    by_owner_.erase(entry.record->owner());
    const auto [begin, end] = by_name_.equal_range(entry.name);
    for (auto it = begin; it != end; ++it) {
        if (it->second != &entry) continue;
        by_name_.erase(it);
        return;
    }
}

waiter* waiter_table::find_by_owner(std::string_view owner) const {
    const auto it = by_owner_.find(owner);
    return it == by_owner_.end() ? nullptr : it->second;
}

waiter* waiter_table::find_successor(std::string_view name) const {
    const auto [begin, end] = by_name_.equal_range(name);
    for (auto it = begin; it != end; ++it) {
        if (it->second->can_be_successor && !it->second->received_grant) return it->second;
    }
    return nullptr;
}

void waiter_table::notify_key(std::string_view lock_key) {
    for (const auto& [owner, entry] : by_owner_) {
        if (!entry->is_tracking ||
            (!lock_key.empty() && entry->record->lock_keys.lock() != lock_key))
            continue;
        entry->notify_change();
    }
}

namespace {

// How far the server's clock and counter may seem ahead. Beyond that, a refresh checks the grant.
constexpr auto longest_skew = 1s;

std::uint64_t token_at(std::uint64_t epoch, std::chrono::milliseconds since_1970) {
    const auto it = core::clock_token(std::chrono::system_clock::time_point(since_1970));
    return static_cast<std::uint64_t>(epoch_base(epoch) + it);
}

}  // namespace

bool is_plausible(const waiter& recipient, fencing_token token, std::uint64_t epoch,
                  std::int64_t server_ms, time_point now) noexcept {
    if (recipient.reply_server_ms < 0) return false;
    const auto granted = milliseconds_of(server_ms);
    const auto elapsed = std::chrono::ceil<std::chrono::milliseconds>(now - recipient.sent_at);
    const auto latest = milliseconds_of(recipient.reply_server_ms) + elapsed + longest_skew;
    if (granted > latest || token.value() > token_at(epoch, latest)) return false;
    return recipient.mode_code == "s" || token.value() >= token_at(epoch, granted);
}

grant pushed_grant(const waiter& recipient, std::string_view token, std::int64_t server_ms,
                   duration claim_window, time_point received) {
    grant result;
    result.token = fencing_token(parse_number(token));
    result.stored_value = make_value(recipient.record->value_prefix(), server_ms);
    result.needs_renewal = true;
    // The grant was made no earlier than `sent_at` plus the time that passed on the server's clock
    // since the reply (less 1 ms for rounding, and 1 % if the server's clock runs faster), and no
    // later than now. Count from the earlier time. If more time passed on the server's clock than
    // here, that clock was set: then only `sent_at` is known.
    const duration server_elapsed =
        milliseconds_of(server_ms) - milliseconds_of(recipient.reply_server_ms) - 1ms;
    const auto elapsed = received - recipient.sent_at;
    const bool is_clock_known =
        recipient.reply_server_ms >= 0 && server_elapsed <= elapsed + drift(elapsed);
    const auto granted_at =
        is_clock_known
            ? std::min(received, recipient.sent_at + server_elapsed - server_elapsed / 100)
            : recipient.sent_at;
    // A renewal sets the end to one ttl after its execution, also if that is earlier than the end
    // of a long window.
    const auto window = std::min(claim_window, recipient.ttl);
    result.deadline = granted_at + window - drift(window);
    return result;
}

}  // namespace pawl::redis::native
