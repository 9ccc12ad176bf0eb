// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_line.hpp"

#include <algorithm>
#include <charconv>

namespace pawl::etcd {
namespace {

void append(std::string& target, std::string_view name, std::string_view value) {
    target.append(name).append("=");
    for (const char each : value)  // a line end in a command's name would begin another line
        target += static_cast<unsigned char>(each) < 32 ? ' ' : each;
    target += '\n';
}

template <class Number>
void append_number(std::string& target, std::string_view name, Number value) {
    append(target, name, std::to_string(value));
}

template <class Number>
void read_number(std::string_view text, Number& value) noexcept {
    std::from_chars(text.data(), text.data() + text.size(), value);
}

std::string_view text_of(lock_mode mode) noexcept {
    if (mode == lock_mode::shared) return "shared";
    return mode == lock_mode::permits ? "permits" : "exclusive";
}

std::string token_text(const entry_value& value) {
    switch (value.place) {
    case token_place::none: return "none";
    case token_place::waiting: return "waiting";
    case token_place::modified: return "modified";
    case token_place::stored: return std::to_string(value.token);
    case token_place::created: break;
    }
    return "created";
}

void read_token(std::string_view text, entry_value& target) noexcept {
    if (text == "none") {
        target.place = token_place::none;
    } else if (text == "waiting") {
        target.place = token_place::waiting;
    } else if (text == "modified") {
        target.place = token_place::modified;
    } else if (text != "created") {
        target.place = token_place::stored;
        read_number(text, target.token);
    }
}

void read_field(std::string_view name, std::string_view text, entry_value& target) {
    if (name == "mode") {
        target.is_foreign = false;
        if (text == "shared") target.share.mode = lock_mode::shared;
        if (text == "permits") target.share.mode = lock_mode::permits;
    } else if (name == "permits") {
        read_number(text, target.share.permits);
    } else if (name == "token") {
        read_token(text, target);
    } else if (name == "since") {
        read_number(text, target.since_ms);
    } else if (name == "host") {
        target.process.host = text;
    } else if (name == "pid") {
        read_number(text, target.process.pid);
    } else if (name == "command") {
        target.process.command = text;
    }
}

}  // namespace

std::string entry_value::encode() const {
    std::string text;
    append(text, "mode", text_of(share.mode));
    if (share.mode == lock_mode::permits) append_number(text, "permits", share.permits);
    append(text, "token", token_text(*this));
    append_number(text, "since", since_ms);
    append(text, "host", process.host);
    append_number(text, "pid", process.pid);
    append(text, "command", process.command);
    return text;
}

entry_value entry_value::decode(std::string_view text) {
    entry_value result;
    result.is_foreign = true;
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        const auto sign = line.find('=');
        if (sign != std::string_view::npos)
            read_field(line.substr(0, sign), line.substr(sign + 1), result);
    }
    return result.is_foreign ? entry_value{.is_foreign = true} : result;
}

fencing_token line_entry::token() const noexcept {
    switch (value.place) {
    case token_place::created: return fencing_token(static_cast<std::uint64_t>(created));
    case token_place::modified: return fencing_token(static_cast<std::uint64_t>(modified));
    case token_place::stored: return fencing_token(value.token);
    default: return {};
    }
}

lock_line::lock_line(const operation_answer& range, std::string_view beginning,
                     std::int64_t revision)
    : revision_(revision) {
    for (const auto& each : range.values) {
        if (!key_scheme::is_in_line(each.key, beginning)) continue;
        entries_.push_back({each.key, entry_value::decode(each.value), each.create_revision,
                            each.mod_revision, each.lease});
    }
    std::ranges::stable_sort(entries_, {}, &line_entry::created);
    for (const auto& each : entries_)
        shares_.push_back(each.value.share);
}

std::optional<std::size_t> lock_line::find(std::string_view key) const noexcept {
    const auto at = std::ranges::find(entries_, key, &line_entry::key);
    if (at == entries_.end()) return std::nullopt;
    return static_cast<std::size_t>(at - entries_.begin());
}

std::optional<core::blocker> lock_line::blocker_of(std::size_t position,
                                                   std::uint32_t total) const noexcept {
    return core::blocker_of(shares_, position, total);
}

// A confirmed holder stays one when the total becomes smaller.
std::size_t lock_line::holders(std::uint32_t total) const noexcept {
    std::size_t count = 0;
    for (const auto& each : entries_) {
        const bool is_confirmed =
            !each.value.is_foreign && each.value.place != token_place::waiting;
        if (!is_confirmed && blocker_of(count, total)) break;
        ++count;
    }
    return count;
}

std::optional<std::uint64_t> lock_line::reader_token() const noexcept {
    std::optional<std::uint64_t> token;
    for (const auto& each : entries_) {
        if (each.value.share.mode != lock_mode::shared) break;
        const auto own = each.token().value();
        if (own != 0 && (!token || own > *token)) token = own;
    }
    return token;
}

bool lock_line::has_unconfirmed_before(std::size_t position) const noexcept {
    return std::any_of(
        entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(position),
        [](const line_entry& each) { return each.value.place == token_place::waiting; });
}

}  // namespace pawl::etcd
