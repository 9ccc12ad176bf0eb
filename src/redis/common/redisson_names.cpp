// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redisson_names.hpp"

#include "keys.hpp"

namespace pawl::redis::redisson {

std::string object_names::unlock_latch(std::string_view request) const {
    return "redisson_unlock_latch:" + tagged + ":" + std::string(request);
}

std::string object_names::lease_of(std::string_view reader) const {
    return tagged + ":" + std::string(reader) + ":rwlock_timeout:1";
}

std::string object_names::receipt_of(std::string_view owner) const {
    return "redisson_sc_receipt:" + tagged + ":" + std::string(owner);
}

naming::naming(const std::string& key_template) {
    const auto position = key_template.find("{name}");
    if (position == std::string::npos) return;
    key_prefix_ = key_template.substr(0, position);
    key_suffix_ = key_template.substr(position + 6);
}

object_names naming::names_of(std::string_view name) const {
    object_names result;
    result.lock = key_prefix_ + std::string(name) + key_suffix_;
    // Like Redisson, adds no braces to a name with an opening brace.
    const bool has_tag = result.lock.find('{') != std::string::npos;
    result.tagged = has_tag ? result.lock : "{" + result.lock + "}";
    result.counter = "redisson_lock_token:" + result.tagged;
    result.queue = "redisson_lock_queue:" + result.tagged;
    result.timeouts = "redisson_lock_timeout:" + result.tagged;
    result.presence = "redisson_lock_seen:" + result.tagged;
    result.lent_permits = result.tagged + ":timeout";
    result.channel = "redisson_lock__channel:" + result.tagged;
    result.rw_channel = "redisson_rwlock:" + result.tagged;
    result.sc_channel = "redisson_sc:" + result.tagged;
    return result;
}

std::optional<std::string> naming::name_of(std::string_view key) const {
    if (key.size() <= key_prefix_.size() + key_suffix_.size() || !key.starts_with(key_prefix_) ||
        !key.ends_with(key_suffix_))
        return std::nullopt;
    return std::string(
        key.substr(key_prefix_.size(), key.size() - key_prefix_.size() - key_suffix_.size()));
}

std::vector<std::string> naming::names_of_lent(std::string_view key) const {
    static constexpr std::string_view end = ":timeout";
    std::vector<std::string> names;
    if (!key.ends_with(end)) return names;
    key.remove_suffix(end.size());
    if (auto untagged = name_of(key); untagged && names_of(*untagged).tagged == key)
        names.push_back(std::move(*untagged));
    if (key.size() > 2 && key.front() == '{' && key.back() == '}') {
        if (auto inside = name_of(key.substr(1, key.size() - 2)); inside)
            names.push_back(std::move(*inside));
    }
    return names;
}

std::string naming::glob(std::string_view prefix) const {
    return glob_escape(key_prefix_) + glob_escape(prefix) + "*" + glob_escape(key_suffix_);
}

}  // namespace pawl::redis::redisson
