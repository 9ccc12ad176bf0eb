// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Classic Redlock: nodes that keep no counters and no membership.
#include "calls.hpp"

#include "redlock_scripts.hpp"

#include "../common/redisson_names.hpp"

namespace pawl::redlock {
namespace {

using redis::reply_reader;
using redis::script_call;
using words = std::vector<std::string_view>;

class classic_layout : public node_layout {
public:
    // `form` is what _classic.lua calls it.
    classic_layout(const set_parameters& set, std::string_view form) noexcept
        : set_(set), form_(form) {}

    script_call command(const acquire_call& call, std::string_view) const override {
        words keys, arguments{form_, call.ttl_ms, call.client, call.place_ms};
        for (const auto& each : call.locks) {
            keys.insert(keys.end(), {each.keys.lock(), each.keys.queue()});
            arguments.push_back(each.value);
        }
        return {scripts::classic_acquire, keys, arguments};
    }

    script_call command(const renew_call& call, std::string_view) const override {
        words keys, arguments{form_};
        for (const auto& each : call.entries()) {
            keys.push_back(each.lock->keys.lock());
            arguments.insert(arguments.end(), {each.lock->value, each.ttl_ms, each.not_after_ms});
        }
        return {scripts::classic_renew, keys, arguments};
    }

    script_call command(const release_call& call, std::string_view) const override {
        words keys, arguments{form_, set_.channel_prefix};
        for (const auto& each : call.locks) {
            keys.insert(keys.end(), {each.keys.lock(), each.keys.queue()});
            arguments.insert(arguments.end(), {each.value, each.name, each.channel});
        }
        return {scripts::classic_release, keys, arguments};
    }

    script_call command(const leave_call& call) const override {
        return {scripts::classic_leave,
                {call.lock.keys.lock(), call.lock.keys.queue()},
                {call.client, set_.channel_prefix, call.lock.name}};
    }

    script_call command(const inspect_call& call) const override {
        return {scripts::classic_inspect, {call.keys.lock(), call.keys.queue()}, {form_}};
    }

    script_call command(const counter_call& call, std::string_view) const override {
        return {scripts::classic_counter, {call.keys.lock()}, {}};
    }

    script_call command(const barrier_call& call, std::string_view run) const override {
        const auto& lock = call.lock;
        return {scripts::classic_drop,
                {lock.keys.lock(), lock.keys.queue()},
                {form_, run, set_.channel_prefix, lock.name, lock.channel}};
    }

    void read_grant(const reply_reader&, std::size_t locks,
                    acquire_call::answer& into) const override {
        into.counters.resize(locks);  // all 0, so the nodes agree
    }

    void read_vote(const reply_reader& from, renew_call::answer& into) const override {
        into.node_ms = from.at(2).integer(0);
    }

    void read_holders(const reply_reader& from, inspect_call::answer&) const override {
        from.expect_size(3);
    }

private:
    const set_parameters& set_;
    const std::string_view form_;
};

class redisson_layout final : public classic_layout {
public:
    redisson_layout(const set_parameters& set, const std::string& key_template)
        : classic_layout(set, "redisson"), names_(key_template) {}

    std::string key_type() const override { return "hash"; }
    std::string channel_of(std::string_view name) const override {
        return names_.names_of(name).channel;
    }

private:
    const redis::redisson::naming names_;
};

}  // namespace

std::unique_ptr<const node_layout> make_plain_layout(const set_parameters& set) {
    return std::make_unique<classic_layout>(set, "plain");
}

std::unique_ptr<const node_layout> make_redisson_layout(const set_parameters& set,
                                                        const std::string& key_template) {
    return std::make_unique<redisson_layout>(set, key_template);
}

}  // namespace pawl::redlock
