// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The keys of one simulated Redis database, with types and with expiry by the server's wall clock.
// The commands on them are in commands.hpp.
#pragma once

#include "sorted_set.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pawl::simulation {

// The first word is the code: "WRONGTYPE …". A line break in the text becomes a blank.
class command_error : public std::runtime_error {
public:
    explicit command_error(std::string text) : std::runtime_error(in_one_line(std::move(text))) {}

private:
    static std::string in_one_line(std::string text) {
        for (char& each : text)
            if (each == '\r' || each == '\n') each = ' ';
        return text;
    }
};

class store {
public:
    using sorted_set = simulation::sorted_set;
    using hash = std::map<std::string, std::string, std::less<>>;
    using list = std::deque<std::string>;
    struct entry {
        std::variant<std::string, sorted_set, hash, list> content;
        std::optional<std::int64_t> expires_ms;
    };
    using keys = std::map<std::string, entry, std::less<>>;

    // The clock, µs since 1970. As in Redis, it stands still while a command or script runs.
    void set_clock(std::int64_t us) noexcept { now_us_ = us; }
    [[nodiscard]] std::int64_t now_us() const noexcept { return now_us_; }
    [[nodiscard]] std::int64_t now_ms() const noexcept { return now_us_ / 1000; }

    // The entry of a key, or null. An expired key is removed first.
    [[nodiscard]] entry* find(std::string_view key);
    // Its content, or null. Throws `command_error` (WRONGTYPE) if it has another type.
    template <class T>
    [[nodiscard]] T* find_as(std::string_view key);
    // The same; a missing key is created.
    template <class T>
    [[nodiscard]] T& find_or_create(std::string_view key);
    // Replaces whatever the key has.
    void assign(std::string_view key, std::string_view value,
                std::optional<std::int64_t> expires_ms);
    bool erase(std::string_view key);
    // Erases the key if its collection is empty, as a command does that took something out of it.
    template <class T>
    void erase_if_empty(std::string_view key, const T& content) {
        if (content.empty()) erase(key);
    }
    // A command has changed the key.
    void note_written(std::string_view key);
    void note_read(std::string_view key);

    // All keys. Expired keys are removed first.
    const keys& all();
    void clear() noexcept { keys_.clear(); }

    // The keys read and written since `begin_journal`, for client-side caching. Only what is
    // wanted is written down.
    struct journal {
        std::vector<std::string> read, written;
    };
    void begin_journal(bool wants_read, bool wants_written);
    [[nodiscard]] const journal& current_journal() const noexcept { return journal_; }

    // For backups and restarts.
    [[nodiscard]] keys copy_keys() const { return keys_; }
    // Replaces whatever the key has, as RESTORE does.
    void restore(std::string_view key, entry with);
    void replace(keys with) { keys_ = std::move(with); }
    // The stored key, even if it has expired and is not removed yet; null if there is none.
    [[nodiscard]] const entry* peek(std::string_view key) const;
    // The content of a stored key, if it has that type.
    template <class T>
    [[nodiscard]] const T* peek(std::string_view key) const {
        const auto* const stored = peek(key);
        return stored == nullptr ? nullptr : std::get_if<T>(&stored->content);
    }
    // The text of a key that has not expired; empty if it has none.
    [[nodiscard]] std::string text_of(std::string_view key);

private:
    void erase(keys::iterator position);

    std::int64_t now_us_ = 0;
    keys keys_;
    journal journal_;
    bool wants_read_ = false;
    bool wants_written_ = false;
};

template <class T>
T* store::find_as(std::string_view key) {
    auto* const stored = find(key);
    if (stored == nullptr) return nullptr;
    auto* const content = std::get_if<T>(&stored->content);
    if (content == nullptr)
        throw command_error("WRONGTYPE Operation against a key holding the wrong kind of value");
    return content;
}

template <class T>
T& store::find_or_create(std::string_view key) {
    if (auto* const existing = find_as<T>(key)) return *existing;
    return keys_.emplace(std::string(key), entry{T{}, std::nullopt})
        .first->second.content.template emplace<T>();
}

}  // namespace pawl::simulation
