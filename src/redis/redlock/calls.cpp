// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "calls.hpp"

#include "redlock_scripts.hpp"

#include "../transport/numbers.hpp"

#include <array>
#include <utility>

namespace pawl::redlock {
namespace {

using redis::reply;
using redis::reply_reader;
using redis::script_call;

}  // namespace

script_call acquire_call::command(std::string_view run) const { return layout.command(*this, run); }

acquire_call::answer acquire_call::read(const reply& from) const {
    const reply_reader reader(scripts::acquire, from, reply_subject);
    answer result{.standing = standing_of(reader)};
    if (result.standing.refusal != objection::none) return result;
    result.is_granted = reader.at(0).flag();
    if (result.is_granted) {
        layout.read_grant(reader, locks.size(), result);
        return result;
    }
    reader.expect_size(2 + locks.size());
    result.left_ms = reader.at(1).integer(-1);
    for (std::size_t i = 0; i < locks.size(); ++i)
        result.holders.push_back(reader.at(2 + i).text());
    return result;
}

confirm_call::confirm_call(const set_parameters& set_of_nodes,
                           std::span<const requested_lock> locks_of_attempt,
                           std::string nonce_of_grant,
                           const std::vector<std::int64_t>& granted_counters,
                           const std::vector<std::int64_t>& tokens)
    : set(set_of_nodes), locks(locks_of_attempt), nonce(std::move(nonce_of_grant)) {
    for (std::size_t i = 0; i < locks.size(); ++i)
        entries_.push_back({std::to_string(granted_counters[i]), std::to_string(tokens[i])});
}

confirm_call::answer confirm_call::read(const reply& from) const {
    const reply_reader reader(scripts::confirm, from, reply_subject);
    answer result{.standing = standing_of(reader)};
    if (result.standing.refusal != objection::none) return result;
    result.is_confirmed = reader.at(0).flag();
    if (result.is_confirmed) result.member = member_of(reader, 1);
    return result;
}

void renew_call::add(const requested_lock& lock, fencing_token token, duration ttl,
                     std::string not_after_ms, std::string restore_until_ms) {
    entries_.push_back({&lock, std::to_string(token.value()), redis::milliseconds_text(ttl),
                        std::move(not_after_ms), std::move(restore_until_ms)});
}

script_call renew_call::command(std::string_view run) const { return layout_.command(*this, run); }

renew_call::answer renew_call::read(const reply& from) const {
    const reply_reader reader(scripts::renew, from, reply_subject);
    answer result{.standing = standing_of(reader)};
    if (result.standing.refusal != objection::none) return result;
    layout_.read_vote(reader, result);
    const auto outcomes = reader.at(1);
    outcomes.expect_size(entries_.size());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        switch (outcomes.at(i).integer(-2, 1)) {
        case 1: result.outcomes.push_back(renewal::outcome::extended); break;
        case 0: result.outcomes.push_back(renewal::outcome::refused); break;
        case -2: result.is_late = true; [[fallthrough]];
        default: result.outcomes.push_back(renewal::outcome::unknown);
        }
    }
    return result;
}

script_call release_call::command(std::string_view run) const { return layout.command(*this, run); }

std::vector<node_release> release_call::read(const reply& from) const {
    static constexpr std::array meanings{node_release::gone, node_release::released,
                                         node_release::taken_over, node_release::overtaken};
    const reply_reader reader(scripts::release, from, reply_subject);
    reader.expect_size(locks.size());
    std::vector<node_release> results;
    for (std::size_t i = 0; i < locks.size(); ++i)
        results.push_back(meanings.at(static_cast<std::size_t>(reader.at(i).integer(0, 3))));
    return results;
}

script_call leave_call::command(std::string_view) const { return layout.command(*this); }

script_call inspect_call::command(std::string_view) const { return layout.command(*this); }

inspect_call::answer inspect_call::read(const reply& from) const {
    const reply_reader reader(scripts::inspect, from, reply_subject);
    answer result;
    result.left_ms = reader.at(1).integer(-2);
    result.waiters = reader.at(2).count();
    if (!reader.at(0).is_nil()) result.value = reader.at(0).text();
    layout.read_holders(reader, result);
    return result;
}

script_call counter_call::command(std::string_view run) const { return layout.command(*this, run); }

counter_call::answer counter_call::read(const reply& from) const {
    const reply_reader reader(scripts::counter, from, reply_subject);
    answer result{.standing = standing_of(reader)};
    if (result.standing.refusal != objection::none) return result;
    reader.expect_size(3);
    result.counter = reader.at(1).number(0);
    result.is_held = reader.at(2).flag();
    return result;
}

script_call barrier_call::command(std::string_view run) const { return layout.command(*this, run); }

standing_reply barrier_call::read(const reply& from) const {
    return standing_of({scripts::barrier, from, reply_subject});
}

}  // namespace pawl::redlock
