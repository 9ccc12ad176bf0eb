// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "key_patterns.hpp"

#include "../common/keys.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace pawl::redis {
namespace {

// An ACL separates its words by spaces, and configuration files know quotes. `?` matches any
// character.
std::string pattern_text(std::string_view text) {
    auto pattern = glob_escape(text);
    for (char& each : pattern)
        if (each <= ' ' || each > '~' || each == '"' || each == '\'') each = '?';
    return pattern;
}

struct template_parts {
    std::string prefix, suffix;  // around {name}
};

template_parts parts_of(const std::string& key_template) {
    const auto position = key_template.find("{name}");
    if (position == std::string::npos) return {};
    return {key_template.substr(0, position), key_template.substr(position + 6)};
}

// The keys beside a lock are in the namespace; keys.hpp has their forms.
std::vector<std::string> native_companions(const options& server_options) {
    const auto name_space = pattern_text(server_options.name_space);
    if (server_options.key.empty()) return {name_space + ":{*"};
    return {name_space + ":x:*", name_space + ":y:*"};
}

// A name may have braces of its own; then Redisson adds none. common/redisson_names.hpp has the
// forms.
std::vector<std::string> redisson_keys(const template_parts& parts) {
    if (parts.prefix.empty()) return {"*"};
    const auto prefix = pattern_text(parts.prefix);
    std::vector<std::string> patterns{prefix + "*", "redisson_*" + prefix + "*"};
    if (parts.prefix.find('{') == std::string::npos) patterns.push_back("{" + prefix + "*");
    return patterns;
}

std::vector<std::string> redisson_channels(const options& server_options,
                                           const used_features& features) {
    const bool is_read_write = server_options.object == redisson_object::readwrite;
    std::vector<std::string_view> bases;
    if (!is_read_write || features.admin) bases.emplace_back("redisson_lock__channel:");
    if (is_read_write || features.admin) bases.emplace_back("redisson_rwlock:");
    if (features.modes || features.admin) bases.emplace_back("redisson_sc:");
    if (features.latches) bases.emplace_back("redisson_countdownlatch__channel__");
    const auto prefix = pattern_text(parts_of(server_options.key).prefix);
    std::vector<std::string> patterns;
    for (const auto base : bases)
        patterns.push_back(std::string(base) + (prefix.empty() ? "*" : "*" + prefix + "*"));
    return patterns;
}

}  // namespace

// A server refuses patterns beside `*`.
std::vector<std::string> key_patterns(const options& server_options) {
    const auto parts = parts_of(server_options.key);
    if (server_options.layout == key_layout::redisson) return redisson_keys(parts);
    auto patterns = native_companions(server_options);
    if (server_options.key.empty()) return patterns;
    const auto locks = pattern_text(parts.prefix) + "*" + pattern_text(parts.suffix);
    if (locks == "*") return {locks};
    patterns.insert(patterns.begin(), locks);
    return patterns;
}

std::string redlock_pattern(const options& server_options) {
    return pattern_text(server_options.name_space) + ":redlock*";
}

std::vector<std::string> channel_patterns(const options& server_options,
                                          const used_features& features) {
    if (!server_options.scripts) return {};
    if (server_options.layout == key_layout::redisson)
        return redisson_channels(server_options, features);
    const key_scheme scheme(server_options.name_space, server_options.key, server_options.database);
    std::vector<std::string> patterns{pattern_text(scheme.channel_prefix()) + "*"};
    if (!features.latches) return patterns;
    for (auto& each : native_companions(server_options))
        patterns.push_back(std::move(each));
    return patterns;
}

}  // namespace pawl::redis
