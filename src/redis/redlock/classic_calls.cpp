// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Classic Redlock: the requests to nodes that keep no counters and no membership.
#include "calls.hpp"

#include "redlock_scripts.hpp"

namespace pawl::redlock {
namespace {

using redis::script_call;
using words = std::vector<std::string_view>;

}  // namespace

std::string_view text_of(node_layout layout) noexcept {
    return layout == node_layout::redisson ? "redisson" : "plain";
}

script_call acquire_call::classic_command() const {
    words keys, arguments{text_of(set.layout), ttl_ms, client, place_ms};
    for (const auto& each : locks) {
        keys.insert(keys.end(), {each.keys.lock(), each.keys.queue()});
        arguments.push_back(each.value);
    }
    return {scripts::classic_acquire, keys, arguments};
}

script_call renew_call::classic_command() const {
    words keys, arguments{text_of(set_.layout)};
    for (const auto& each : entries_) {
        keys.push_back(each.lock->keys.lock());
        arguments.insert(arguments.end(), {each.lock->value, each.ttl_ms, each.not_after_ms});
    }
    return {scripts::classic_renew, keys, arguments};
}

script_call release_call::classic_command() const {
    words keys, arguments{text_of(set.layout), set.channel_prefix};
    for (const auto& each : locks) {
        keys.insert(keys.end(), {each.keys.lock(), each.keys.queue()});
        arguments.insert(arguments.end(), {each.value, each.name, each.channel});
    }
    return {scripts::classic_release, keys, arguments};
}

script_call barrier_call::classic_command(std::string_view run) const {
    return {scripts::classic_drop,
            {lock.keys.lock(), lock.keys.queue()},
            {text_of(set.layout), run, set.channel_prefix, lock.name, lock.channel}};
}

}  // namespace pawl::redlock
