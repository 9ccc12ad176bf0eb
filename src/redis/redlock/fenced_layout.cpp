// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Redlock with fencing tokens: members of a set, with counters. Readers have scripts of their own.
#include "calls.hpp"

#include "redlock_scripts.hpp"

#include "../transport/numbers.hpp"

#include <algorithm>
#include <utility>

namespace pawl::redlock {
namespace {

using redis::reply_reader;
using redis::script_call;
using words = std::vector<std::string_view>;

words member_keys(const set_parameters& set) { return {set.member_key, set.quarantine_key}; }

void append_keys_for_readers(words& keys, const redis::keys& of_lock) {
    keys.insert(keys.end(), {of_lock.lock(), of_lock.fence(), of_lock.queue(), of_lock.holders(),
                             of_lock.details()});
}

void append_keys(words& keys, const requested_lock& lock) {
    if (lock.is_shared()) return append_keys_for_readers(keys, lock.keys);
    keys.insert(keys.end(), {lock.keys.lock(), lock.keys.fence(), lock.keys.queue()});
}

// ";COUNTER" at the end of a hold's value.
fencing_token token_of(std::string_view text) {
    return fencing_token(text.empty() ? 0 : redis::parse_number(text.substr(1)));
}

class fenced_layout final : public node_layout {
public:
    explicit fenced_layout(const set_parameters& set) noexcept : set_(set) {}

    script_call command(const acquire_call& call, std::string_view run) const override {
        auto keys = member_keys(set_);
        words arguments{run,         set_.set,      call.ttl_ms, set_.keep_ms,
                        call.client, call.place_ms, call.floor};
        const bool is_shared = call.locks.front().is_shared();
        for (const auto& each : call.locks) {
            append_keys(keys, each);
            arguments.push_back(each.value);
            if (is_shared) arguments.insert(arguments.end(), {set_.channel_prefix, each.name});
        }
        return {is_shared ? scripts::read_acquire : scripts::acquire, keys, arguments};
    }

    script_call command(const renew_call& call, std::string_view run) const override {
        auto keys = member_keys(set_);
        words arguments{run, set_.set, set_.keep_ms, set_.channel_prefix};
        const bool is_shared = call.entries().front().lock->is_shared();
        for (const auto& [lock, token, ttl_ms, not_after_ms, restore_until_ms] : call.entries()) {
            append_keys(keys, *lock);
            arguments.insert(arguments.end(),
                             {lock->value, token, ttl_ms, lock->name, not_after_ms});
            if (is_shared) arguments.push_back(restore_until_ms);
        }
        return {is_shared ? scripts::read_renew : scripts::renew, keys, arguments};
    }

    script_call command(const release_call& call, std::string_view run) const override {
        auto keys = member_keys(set_);
        words arguments{run, set_.set, set_.keep_ms, set_.channel_prefix};
        for (const auto& each : call.locks) {
            append_keys(keys, each);
            arguments.insert(arguments.end(), {each.value, call.token, each.name});
        }
        const bool is_shared = call.locks.front().is_shared();
        return {is_shared ? scripts::read_release : scripts::release, keys, arguments};
    }

    script_call command(const leave_call& call) const override {
        return {scripts::leave,
                {call.lock.keys.lock(), call.lock.keys.queue()},
                {call.client, set_.channel_prefix, call.lock.name}};
    }

    script_call command(const inspect_call& call) const override {
        const auto& keys = call.keys;
        return {scripts::inspect, {keys.lock(), keys.queue(), keys.holders(), keys.details()}, {}};
    }

    script_call command(const counter_call& call, std::string_view run) const override {
        return {scripts::counter,
                {set_.member_key, set_.quarantine_key, call.keys.lock(), call.keys.fence()},
                {run, set_.set}};
    }

    script_call command(const barrier_call& call, std::string_view run) const override {
        auto keys = member_keys(set_);
        append_keys_for_readers(keys, call.lock.keys);
        const words arguments{run,        set_.set,      set_.keep_ms, set_.channel_prefix,
                              call.token, call.lock.name};
        return {scripts::barrier, keys, arguments};
    }

    void read_grant(const reply_reader& from, std::size_t locks,
                    acquire_call::answer& into) const override {
        from.expect_size(4 + locks);
        into.member = member_of(from, 1);
        into.member.nonce = from.at(3).text();
        for (std::size_t i = 0; i < locks; ++i)
            into.counters.push_back(from.at(4 + i).number(1, absurd_token));
    }

    void read_vote(const reply_reader& from, renew_call::answer& into) const override {
        into.member = member_of(from, 2);
        into.member.nonce = from.at(4).text();
        into.node_ms = from.at(5).integer(0);
    }

    void read_holders(const reply_reader& from, inspect_call::answer& into) const override {
        from.expect_size(4);
        if (into.value) {
            const auto end = std::min(into.value->rfind(';'), into.value->size());
            into.token = token_of(std::string_view(*into.value).substr(end));
            into.value->resize(end);
        }
        const auto readers = from.at(3);
        for (std::size_t i = 0; i + 1 < readers.size(); i += 2) {
            const auto& details = readers.at(i).text();
            const auto end = details.rfind(';');
            if (end == std::string::npos) continue;  // another program's data
            into.readers.push_back({details.substr(0, end),
                                    token_of(std::string_view(details).substr(end)),
                                    readers.at(i + 1).integer(0)});
        }
    }

private:
    const set_parameters& set_;
};

}  // namespace

script_call confirm_call::command(std::string_view run) const {
    auto keys = member_keys(set);
    words arguments{run, set.set, set.keep_ms, nonce};
    const bool is_shared = locks.front().is_shared();
    for (std::size_t i = 0; i < locks.size(); ++i) {
        if (is_shared)
            append_keys_for_readers(keys, locks[i].keys);
        else
            keys.insert(keys.end(), {locks[i].keys.lock(), locks[i].keys.fence()});
        arguments.insert(arguments.end(), {locks[i].value, entries_[i].counter, entries_[i].token});
    }
    return {is_shared ? scripts::read_confirm : scripts::confirm, keys, arguments};
}

std::unique_ptr<const node_layout> make_fenced_layout(const set_parameters& set) {
    return std::make_unique<fenced_layout>(set);
}

}  // namespace pawl::redlock
