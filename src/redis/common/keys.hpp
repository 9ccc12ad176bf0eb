// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The keys of a lock. All keys of one lock are in the same hash slot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::redis {

// One allocation holds all of them.
class keys {
public:
    // The other keys are `base` with a suffix; without a base, the lock's key with a suffix.
    explicit keys(std::string lock_key, std::string_view base = {});
    keys() = default;
    // The memory, for other keys.
    [[nodiscard]] std::string take_text() && noexcept { return std::move(text_); }

    // STRING: the holder's value, or the mark of non-exclusive holders
    [[nodiscard]] std::string_view lock() const noexcept { return {text_.data(), lock_size_}; }
    // STRING: the counter of fencing tokens
    [[nodiscard]] std::string_view fence() const noexcept { return companion(0); }
    // ZSET: waiter -> time of arrival
    [[nodiscard]] std::string_view queue() const noexcept { return companion(1); }
    // HASH: waiter -> end of its lease, claim window, mode, value's prefix
    [[nodiscard]] std::string_view waiters() const noexcept { return companion(2); }
    // ZSET: non-exclusive holder -> end of its lease
    [[nodiscard]] std::string_view holders() const noexcept { return companion(3); }
    // HASH: non-exclusive holder -> permits, token, value; also the permits in use and in
    // total, and the readers' token
    [[nodiscard]] std::string_view details() const noexcept { return companion(4); }

    // In the order of KEYS in most scripts.
    [[nodiscard]] std::array<std::string_view, 6> all() const noexcept {
        return {lock(), fence(), queue(), waiters(), holders(), details()};
    }

private:
    [[nodiscard]] std::string_view companion(std::size_t index) const noexcept {
        return {text_.data() + lock_size_ + index * companion_size_, companion_size_};
    }

    std::string text_;  // all keys, one after the other
    std::size_t lock_size_ = 0;
    std::size_t companion_size_ = 0;  // of each other key
};

// Escapes the text for SCAN's MATCH, so that it matches only itself.
[[nodiscard]] std::string glob_escape(std::string_view text);

class key_scheme {
public:
    // `key_template` as options::key. Throws errc::bad_option if the namespace or the template is
    // not usable.
    key_scheme(std::string name_space, const std::string& key_template, std::uint32_t database = 0);

    // `buffer` is memory that the keys may use. Throws errc::bad_name if, with a template, the
    // lock's key would have the form of the other keys of a lock.
    [[nodiscard]] keys keys_of(std::string_view name, std::string buffer = {}) const;
    // The name of the lock with this key; nothing if no lock of this scheme has this key.
    [[nodiscard]] std::optional<std::string> name_of(std::string_view lock_key) const;
    // The pattern for SCAN that matches the keys of all locks whose names begin with `prefix`.
    [[nodiscard]] std::string glob(std::string_view prefix) const;
    // NAMESPACE:c:DATABASE:, to which a client's id is appended. The database is part of the prefix
    // because a server's keys are separate for each database, but its channels are not.
    [[nodiscard]] const std::string& channel_prefix() const noexcept { return channel_prefix_; }
    // The channel for messages about changes of that key.
    [[nodiscard]] std::string channel_of(std::string_view key) const;
    // Other libraries may hold and release locks of this scheme.
    [[nodiscard]] bool is_shared_with_others() const noexcept { return is_plain_; }

private:
    // With a template, the keys of a lock except its own begin with NAMESPACE:x: or NAMESPACE:y:.
    [[nodiscard]] bool is_companion(std::string_view key) const noexcept;

    std::string name_space_;
    std::string key_prefix_, key_suffix_;  // the parts of the lock's key around the name
    std::string channel_prefix_;
    std::uint32_t database_;
    bool is_plain_;  // the key contains the name without escapes
};

}  // namespace pawl::redis
