// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "keys.hpp"

#include "../topology/slot.hpp"

#include <pawl/error.hpp>

#include <algorithm>
#include <vector>

namespace pawl::redis {
namespace {

// Braces in a name would change the hash tag.
void append_escaped(std::string& to, std::string_view name) {
    const auto is_special = [](char c) { return c == '{' || c == '}' || c == '%'; };
    if (std::ranges::none_of(name, is_special)) {
        to += name;
        return;
    }
    for (const char c : name) {
        switch (c) {
        case '{': to += "%7B"; break;
        case '}': to += "%7D"; break;
        case '%': to += "%25"; break;
        default: to += c;
        }
    }
}

std::optional<std::string> unescape(std::string_view text) {
    std::string name;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '{' || text[i] == '}') return std::nullopt;
        if (text[i] != '%') {
            name += text[i];
            continue;
        }
        const auto code = text.substr(i, 3);
        if (code == "%7B")
            name += '{';
        else if (code == "%7D")
            name += '}';
        else if (code == "%25")
            name += '%';
        else
            return std::nullopt;
        i += 2;
    }
    return name;
}

// For each slot, the smallest number whose decimal digits hash to that slot.
const std::vector<unsigned>& numbers_by_slot() {
    static const std::vector<unsigned> numbers = [] {
        std::vector<unsigned> by_slot(slot_count, 0);
        unsigned missing = slot_count;
        for (unsigned candidate = 1; missing > 0; ++candidate) {
            auto& slot_number = by_slot[slot_of(std::to_string(candidate))];
            if (slot_number == 0) --missing;
            if (slot_number == 0) slot_number = candidate;
        }
        return by_slot;
    }();
    return numbers;
}

// The base of the other keys of a lock whose own key follows a template; all are in the same slot.
// A key without braces becomes a hash tag, and a key with a tag keeps it. If that is ambiguous
// ("{a}" and "a"), or a brace would end the tag early, a number that hashes to the key's slot
// becomes the tag.
std::string companion_key_base(const std::string& name_space, const std::string& lock) {
    if (lock.find_first_of("{}") == std::string::npos) return name_space + ":x:{" + lock + "}";
    const bool has_tag = hashed_part(lock).size() < lock.size();
    const bool is_all_tag = lock.front() == '{' && lock.find('}') == lock.size() - 1;
    if (has_tag && !is_all_tag) return name_space + ":x:" + lock;
    return name_space + ":y:{" + std::to_string(numbers_by_slot()[slot_of(lock)]) + "}" + lock;
}

}  // namespace

std::string glob_escape(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '*' || c == '?' || c == '[' || c == ']' || c == '^' || c == '\\') escaped += '\\';
        escaped += c;
    }
    return escaped;
}

keys::keys(std::string lock_key, std::string_view base)
    : text_(std::move(lock_key)),
      lock_size_(text_.size()),
      companion_size_((base.empty() ? lock_size_ : base.size()) + 2) {
    text_.resize(lock_size_ + 5 * companion_size_);
    if (base.empty()) base = lock();
    auto* position = text_.data() + lock_size_;
    for (const char suffix : {'f', 'q', 'w', 'h', 'd'}) {
        position = std::copy(base.begin(), base.end(), position);
        *position++ = ':';
        *position++ = suffix;
    }
}

key_scheme::key_scheme(std::string name_space, const std::string& key_template,
                       std::uint32_t database)
    : name_space_(std::move(name_space)),
      channel_prefix_(name_space_ + ":c:" + std::to_string(database) + ":"),
      database_(database),
      is_plain_(!key_template.empty()) {
    if (name_space_.empty() || name_space_.size() > 64 ||
        name_space_.find_first_of("{}% \t\r\n") != std::string::npos)
        throw error(errc::bad_option, "The namespace '" + name_space_ +
                                          "' is not usable; use 1 to 64 characters without "
                                          "spaces, braces and percent signs.");
    if (!is_plain_) {
        key_prefix_ = name_space_ + ":{";
        key_suffix_ = "}";
        return;
    }
    const auto position = key_template.find("{name}");
    if (position == std::string::npos ||
        key_template.find("{name}", position + 1) != std::string::npos)
        throw error(errc::bad_option,
                    "The key template '" + key_template +
                        "' must contain {name} once; {name} alone is the plain name.");
    key_prefix_ = key_template.substr(0, position);
    key_suffix_ = key_template.substr(position + 6);
}

keys key_scheme::keys_of(std::string_view name, std::string buffer) const {
    auto lock = std::move(buffer);
    lock.clear();
    // Room for all keys, unless the name has characters to escape.
    lock.reserve(6 * (key_prefix_.size() + name.size() + key_suffix_.size() + 2));
    lock += key_prefix_;
    if (is_plain_)
        lock += name;
    else
        append_escaped(lock, name);
    lock += key_suffix_;
    if (!is_plain_) return keys(std::move(lock));
    if (is_companion(lock))
        throw error(errc::bad_name, "The lock's key '" + lock +
                                        "' has the form of Pawl's own keys beside the locks; "
                                        "choose another name or key template.");
    const auto base = companion_key_base(name_space_, lock);
    return keys(std::move(lock), base);
}

std::string key_scheme::channel_of(std::string_view key) const {
    return std::string(key) + "/" + std::to_string(database_);
}

std::optional<std::string> key_scheme::name_of(std::string_view key) const {
    if (key.size() <= key_prefix_.size() + key_suffix_.size() || !key.starts_with(key_prefix_) ||
        !key.ends_with(key_suffix_))
        return std::nullopt;
    const auto name =
        key.substr(key_prefix_.size(), key.size() - key_prefix_.size() - key_suffix_.size());
    if (!is_plain_) return unescape(name);
    if (is_companion(key)) return std::nullopt;
    return std::string(name);
}

bool key_scheme::is_companion(std::string_view key) const noexcept {
    if (!key.starts_with(name_space_)) return false;
    key.remove_prefix(name_space_.size());
    const bool is_of_redlock_node = key == ":redlock" || key == ":redlock:q";
    return key.starts_with(":x:") || key.starts_with(":y:") || is_of_redlock_node;
}

std::string key_scheme::glob(std::string_view prefix) const {
    std::string name_begin;
    if (is_plain_)
        name_begin = prefix;
    else
        append_escaped(name_begin, prefix);
    return glob_escape(key_prefix_) + glob_escape(name_begin) + "*" + glob_escape(key_suffix_);
}

}  // namespace pawl::redis
