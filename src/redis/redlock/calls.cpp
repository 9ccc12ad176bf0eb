// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "calls.hpp"

#include "redlock_scripts.hpp"
#include "reply_parts.hpp"

#include "../common/waits.hpp"
#include "../scripting/reply_reader.hpp"
#include "../transport/numbers.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace pawl::redlock {
namespace {

using redis::reply;
using redis::reply_reader;
using redis::script_call;
using words = std::vector<std::string_view>;

constexpr std::string_view subject = "Redlock";

words keys_of(const set_parameters& set) { return {set.member_key, set.quarantine_key}; }

// ";COUNTER" at the end of a hold's value.
fencing_token token_of(std::string_view text) {
    return fencing_token(text.empty() ? 0 : redis::parse_number(text.substr(1)));
}

void append_keys_for_readers(words& keys, const redis::keys& of_lock) {
    keys.insert(keys.end(), {of_lock.lock(), of_lock.fence(), of_lock.queue(), of_lock.holders(),
                             of_lock.details()});
}

}  // namespace

script_call acquire_call::command(std::string_view run) const {
    if (!set.is_fenced()) return classic_command();
    if (locks.front().is_shared()) return readers_command(run);
    auto keys = keys_of(set);
    words arguments{run, set.set, ttl_ms, set.keep_ms, client, place_ms, floor};
    for (const auto& each : locks) {
        keys.insert(keys.end(), {each.keys.lock(), each.keys.fence(), each.keys.queue()});
        arguments.push_back(each.value);
    }
    return {scripts::acquire, keys, arguments};
}

script_call acquire_call::readers_command(std::string_view run) const {
    const auto& lock = locks.front();
    auto keys = keys_of(set);
    append_keys_for_readers(keys, lock.keys);
    const words arguments{run,       set.set,  ttl_ms,     set.keep_ms,
                          client,    place_ms, lock.value, set.channel_prefix,
                          lock.name, floor};
    return {scripts::read_acquire, keys, arguments};
}

acquire_call::answer acquire_call::read(const reply& from) const {
    const reply_reader reader(scripts::acquire, from, subject);
    answer result{.standing = standing_of(reader)};
    if (result.standing.refusal != objection::none) return result;
    result.is_granted = reader.at(0).flag();
    if (!result.is_granted) {
        reader.expect_size(2 + locks.size());
        result.left_ms = reader.at(1).integer(-1);
        for (std::size_t i = 0; i < locks.size(); ++i)
            result.holders.push_back(reader.at(2 + i).text());
        return result;
    }
    if (!set.is_fenced()) {
        result.counters.resize(locks.size());  // all 0, so the nodes agree
        return result;
    }
    reader.expect_size(4 + locks.size());
    result.member = member_of(reader, 1);
    result.member.nonce = reader.at(3).text();
    for (std::size_t i = 0; i < locks.size(); ++i)
        result.counters.push_back(reader.at(4 + i).number(1, absurd_token));
    return result;
}

confirm_call::confirm_call(const set_parameters& set_of_nodes,
                           std::span<const requested_lock> requested, std::string nonce_of_grant,
                           const std::vector<std::int64_t>& granted_counters,
                           const std::vector<std::int64_t>& tokens)
    : set(set_of_nodes), locks(requested), nonce(std::move(nonce_of_grant)) {
    for (std::size_t i = 0; i < locks.size(); ++i)
        entries_.push_back({std::to_string(granted_counters[i]), std::to_string(tokens[i])});
}

script_call confirm_call::command(std::string_view run) const {
    auto keys = keys_of(set);
    words arguments{run, set.set, set.keep_ms, nonce};
    if (locks.front().is_shared()) {
        const auto& [counter, token] = entries_.front();
        append_keys_for_readers(keys, locks.front().keys);
        arguments.insert(arguments.end(), {locks.front().value, counter, token});
        return {scripts::read_confirm, keys, arguments};
    }
    for (std::size_t i = 0; i < locks.size(); ++i) {
        keys.insert(keys.end(), {locks[i].keys.lock(), locks[i].keys.fence()});
        arguments.insert(arguments.end(), {locks[i].value, entries_[i].counter, entries_[i].token});
    }
    return {scripts::confirm, keys, arguments};
}

confirm_call::answer confirm_call::read(const reply& from) const {
    const reply_reader reader(scripts::confirm, from, subject);
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

script_call renew_call::command(std::string_view run) const {
    if (!set_.is_fenced()) return classic_command();
    auto keys = keys_of(set_);
    words arguments{run, set_.set, set_.keep_ms, set_.channel_prefix};
    const bool is_shared = !entries_.empty() && entries_.front().lock->is_shared();
    for (const auto& [lock, token, ttl_ms, not_after_ms, restore_until_ms] : entries_) {
        if (is_shared)
            append_keys_for_readers(keys, lock->keys);
        else
            keys.insert(keys.end(), {lock->keys.lock(), lock->keys.fence(), lock->keys.queue()});
        arguments.insert(arguments.end(), {lock->value, token, ttl_ms, lock->name, not_after_ms});
        if (is_shared) arguments.push_back(restore_until_ms);
    }
    return {is_shared ? scripts::read_renew : scripts::renew, keys, arguments};
}

renew_call::answer renew_call::read(const reply& from) const {
    const reply_reader reader(scripts::renew, from, subject);
    answer result{.standing = standing_of(reader)};
    if (result.standing.refusal != objection::none) return result;
    if (set_.is_fenced()) {
        result.member = member_of(reader, 2);
        result.member.nonce = reader.at(4).text();
    }
    result.node_ms = reader.at(set_.is_fenced() ? 5 : 2).integer(0);
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

script_call release_call::command(std::string_view run) const {
    if (!set.is_fenced()) return classic_command();
    auto keys = keys_of(set);
    words arguments{run, set.set, set.keep_ms, set.channel_prefix};
    const bool is_shared = locks.front().is_shared();
    for (std::size_t i = 0; i < locks.size(); ++i) {
        const auto& each = locks[i];
        if (is_shared)
            append_keys_for_readers(keys, each.keys);
        else
            keys.insert(keys.end(), {each.keys.lock(), each.keys.fence(), each.keys.queue()});
        arguments.insert(arguments.end(), {each.value, tokens[i], each.name});
    }
    return {is_shared ? scripts::read_release : scripts::release, keys, arguments};
}

std::vector<node_release> release_call::read(const reply& from) const {
    static constexpr std::array meanings{node_release::gone, node_release::released,
                                         node_release::taken_over, node_release::overtaken};
    const reply_reader reader(scripts::release, from, subject);
    reader.expect_size(locks.size());
    std::vector<node_release> results;
    for (std::size_t i = 0; i < locks.size(); ++i)
        results.push_back(meanings.at(static_cast<std::size_t>(reader.at(i).integer(0, 3))));
    return results;
}

script_call leave_call::command(std::string_view) const {
    return {set.is_fenced() ? scripts::leave : scripts::classic_leave,
            {lock.keys.lock(), lock.keys.queue()},
            {client, set.channel_prefix, lock.name}};
}

script_call inspect_call::command(std::string_view) const {
    if (!set.is_fenced())
        return {scripts::classic_inspect, {keys.lock(), keys.queue()}, {text_of(set.layout)}};
    return {scripts::inspect, {keys.lock(), keys.queue(), keys.holders(), keys.details()}, {}};
}

inspect_call::answer inspect_call::read(const reply& from) const {
    const reply_reader reader(scripts::inspect, from, subject);
    reader.expect_size(set.is_fenced() ? 4 : 3);
    answer result;
    result.left_ms = reader.at(1).integer(-2);
    result.waiters = reader.at(2).count();
    if (!reader.at(0).is_nil()) result.value = reader.at(0).text();
    if (!set.is_fenced()) return result;
    if (result.value) {
        const auto end = std::min(result.value->rfind(';'), result.value->size());
        result.token = token_of(std::string_view(*result.value).substr(end));
        result.value->resize(end);
    }
    const auto readers = reader.at(3);
    for (std::size_t i = 0; i + 1 < readers.size(); i += 2) {
        const auto& details = readers.at(i).text();
        const auto end = details.rfind(';');
        if (end == std::string::npos) continue;  // another program's data
        result.readers.push_back({details.substr(0, end),
                                  token_of(std::string_view(details).substr(end)),
                                  readers.at(i + 1).integer(0)});
    }
    return result;
}

script_call counter_call::command(std::string_view run) const {
    if (!set.is_fenced()) return {scripts::classic_counter, {keys.lock()}, {}};
    return {scripts::counter,
            {set.member_key, set.quarantine_key, keys.lock(), keys.fence()},
            {run, set.set}};
}

counter_call::answer counter_call::read(const reply& from) const {
    const reply_reader reader(scripts::counter, from, subject);
    answer result{.standing = standing_of(reader)};
    if (result.standing.refusal != objection::none) return result;
    reader.expect_size(3);
    result.counter = reader.at(1).number(0);
    result.is_held = reader.at(2).flag();
    return result;
}

script_call barrier_call::command(std::string_view run) const {
    if (!set.is_fenced()) return classic_command(run);
    auto keys = keys_of(set);
    append_keys_for_readers(keys, lock.keys);
    const words arguments{run, set.set, set.keep_ms, set.channel_prefix, token, lock.name};
    return {scripts::barrier, keys, arguments};
}

standing_reply barrier_call::read(const reply& from) const {
    return standing_of({scripts::barrier, from, subject});
}

}  // namespace pawl::redlock
