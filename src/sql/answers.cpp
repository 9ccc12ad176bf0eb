// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "answers.hpp"

#include "../core/store/permits.hpp"

#include <algorithm>
#include <array>

namespace pawl::sql {
namespace {

parameter mode_of(lock_mode mode) { return static_cast<std::int64_t>(mode); }

// The caller's name for the hold, beside its owner.
parameter value_of(const claim& requested) {
    return requested.value.empty() ? parameter() : parameter(stored_text(requested.value));
}

// The bytes of the first character; 0 if the text does not begin with a character of UTF-8: RFC
// 3629.
std::size_t character_size(std::string_view text) noexcept {
    const auto byte_at = [text](std::size_t at) {
        return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
    };
    const unsigned first = byte_at(0);
    if (first < 0x80) return 1;
    if (first < 0xc2 || first > 0xf4) return 0;
    const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    const unsigned second = byte_at(1);
    const bool is_overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
    const bool is_outside = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
    if (is_overlong || is_outside) return 0;
    for (std::size_t at = 1; at < size; ++at)
        if ((byte_at(at) & 0xc0U) != 0x80) return 0;
    return size;
}

// The next word of the text.
std::string_view take_word(std::string_view& text) noexcept {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

// Any letter of a message may be wrong. 0: no number.
std::int64_t take_number(std::string_view& text) noexcept {
    const auto word = take_word(text);
    std::int64_t number = 0;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), number);
    return parsed.ec == std::errc() && parsed.ptr == word.data() + word.size() ? number : 0;
}

fencing_token token_in(const row& answer, std::size_t column) {
    return fencing_token(static_cast<std::uint64_t>(number_in(answer, column)));
}

// An error for a status of permits; all of them have the stored total.
error permits_error(char status, const claim& requested, std::uint32_t total) {
    if (status == 'n') return core::no_total_error(requested);
    if (status == 't') return core::other_total_error(requested, total);
    return core::too_many_error(requested, total);
}

}  // namespace

std::int64_t number_in(const row& answer, std::size_t column, std::int64_t fallback) {
    if (column >= answer.size() || !answer[column]) return fallback;
    const auto& text = *answer[column];
    std::int64_t number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())
        throw error(errc::protocol, "The database answered '" + text +
                                        "' in place of a number; see that no other program "
                                        "changed the functions of Pawl's schema.");
    return number;
}

std::string_view text_in(const row& answer, std::size_t column) noexcept {
    if (column >= answer.size() || !answer[column]) return {};
    return *answer[column];
}

bool flag_in(const row& answer, std::size_t column) noexcept {
    const auto text = text_in(answer, column);
    return text.starts_with('t') || text == "1";
}

char status_of(const std::vector<row>& answer) noexcept {
    if (answer.empty()) return '\0';
    const auto text = text_in(answer.front(), 0);
    return text.empty() ? '\0' : text.front();
}

bool asks_for_hello(std::string_view function, const std::vector<row>& answer) noexcept {
    static constexpr std::array<std::string_view, 4> with_status{"acquire", "refresh", "latch_set",
                                                                 "latch_step"};
    if (std::ranges::find(with_status, function) != with_status.end())
        return status_of(answer) == 'r';
    const bool has_token = function == "acquire_batch" || function == "adopt";
    return has_token && !answer.empty() && text_in(answer.front(), 0) == "-1";
}

error unexpected_answer(std::string_view function) {
    return {errc::protocol, "The database's function " + std::string(function) +
                                "_1 gave an unexpected answer; see that no other program changed "
                                "the functions of Pawl's schema."};
}

std::string process_text(const identity& process) {
    auto host = process.host;
    std::ranges::replace(host, ' ', '_');
    return host + ' ' + std::to_string(process.pid) + ' ' + process.command;
}

void read_process(std::string_view text, holder& shown) {
    shown.host = take_word(text);
    shown.pid = take_number(text);
    shown.command = text;
}

std::optional<std::size_t> count_characters(std::string_view text) noexcept {
    std::size_t count = 0;
    for (; !text.empty(); ++count) {
        const auto size = character_size(text);
        if (size == 0) return std::nullopt;
        text.remove_prefix(size);
    }
    return count;
}

std::string stored_text(std::string_view name) {
    static constexpr char digits[] = "0123456789ABCDEF";
    std::string text;
    text.reserve(name.size());
    for (std::size_t at = 0; at < name.size();) {
        const auto size = character_size(name.substr(at));
        if (size != 0 && name[at] != '%') {
            text += name.substr(at, size);
            at += size;
            continue;
        }
        const auto byte = static_cast<unsigned char>(name[at++]);
        text += '%';
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

std::string name_of(std::string_view stored) {
    std::string name;
    name.reserve(stored.size());
    for (std::size_t at = 0; at < stored.size(); ++at) {
        unsigned byte = 0;
        const auto* first = stored.data() + at + 1;
        if (stored[at] == '%' && at + 2 < stored.size() &&
            std::from_chars(first, first + 2, byte, 16).ptr == first + 2) {
            name += static_cast<char>(byte);
            at += 2;
        } else {
            name += stored[at];
        }
    }
    return name;
}

call attempt_call(std::string_view function, const caller& from, const claim& requested,
                  bool may_wait) {
    const auto permits = requested.mode == lock_mode::permits ? std::int64_t{requested.permits} : 0;
    return {function,
            {from.name_space, stored_text(requested.name), requested.owner, from.facts.client,
             from.process, value_of(requested), count_ms(requested.ttl), mode_of(requested.mode),
             permits, std::int64_t{requested.total_permits}, from.place_kind(may_wait)},
            true};
}

call leave_call(const caller& from, const claim& requested, const std::string& claimed_by,
                bool keep) {
    return {"leave",
            {from.name_space, stored_text(requested.name), requested.owner, from.facts.client,
             from.facts.is_pushed ? claimed_by : std::string(), mode_of(requested.mode),
             std::int64_t{keep}},
            true};
}

call release_call(const caller& from, const claim& requested) {
    return {"release",
            {from.name_space, stored_text(requested.name), requested.owner, from.facts.client,
             mode_of(requested.mode)},
            true};
}

call renew_call(const caller& from, std::span<const renewal> renewals) {
    std::vector<std::string> names, owners, modes, ttls;
    for (const auto& each : renewals) {
        const auto& held = each.held->claim;
        names.push_back(stored_text(held.name));
        owners.push_back(held.owner);
        modes.push_back(std::to_string(static_cast<int>(held.mode)));
        ttls.push_back(std::to_string(count_ms(each.ttl)));
    }
    return {"renew",
            {from.name_space, from.facts.client, std::move(names), std::move(owners),
             std::move(modes), std::move(ttls)}};
}

call inspect_call(const caller& from, std::string_view name, bool is_prefix) {
    return {"inspect",
            {from.name_space, stored_text(name), from.facts.client, std::int64_t{is_prefix}}};
}

call batch_call(const caller& from, std::span<const claim> claims) {
    std::vector<std::string> names, owners;
    duration ttl{};
    for (const auto& each : claims) {
        names.push_back(stored_text(each.name));
        owners.push_back(each.owner);
        ttl = std::max(ttl, each.ttl);
    }
    return {"acquire_batch",
            {from.name_space, std::move(names), std::move(owners), from.facts.client, from.process,
             count_ms(ttl)},
            true};
}

core::attempt_result read_attempt(const claim& requested, const row& answer, time_point asked_at,
                                  time_point now) {
    core::attempt_result result;
    const auto status_text = text_in(answer, 0);
    const char status = status_text.empty() ? '\0' : status_text.front();
    switch (status) {
    case 'g': {
        const auto lease = milliseconds_in(answer, 2);
        result.outcome = core::attempt_result::kind::granted;
        result.expires = asked_at + lease;
        result.token = token_in(answer, 1);
        result.needs_renewal = lease < requested.ttl;
        return result;
    }
    case 'q':
        result.outcome = core::attempt_result::kind::waiting;
        result.is_first = flag_in(answer, 3);
        [[fallthrough]];
    case 'b':
        result.expires =
            answer.size() > 2 && answer[2] ? now + milliseconds_in(answer, 2) : time_point::max();
        return result;
    case 'n':
    case 't':
    case 'm':
        throw permits_error(status, requested, static_cast<std::uint32_t>(number_in(answer, 4)));
    default: throw unexpected_answer("acquire");
    }
}

release_result read_release(char status) noexcept {
    if (status == 'r') return release_result::released;
    return status == 't' ? release_result::taken_over : release_result::expired;
}

message parse_message(std::string_view text) noexcept {
    message parsed;
    if (text.size() < 3 || text[1] != ' ') return parsed;
    const char kind = text.front();
    auto rest = text.substr(2);
    switch (kind) {
    case 'l': parsed.name = rest; break;
    case 'f':
        parsed.subject = take_word(rest);
        parsed.name = rest;
        break;
    case 'w': parsed.subject = rest; break;
    case 'g':
        parsed.subject = take_word(rest);
        parsed.token = fencing_token(static_cast<std::uint64_t>(take_number(rest)));
        parsed.span = limited_milliseconds(take_number(rest));
        parsed.clock = take_number(rest);
        if (!parsed.token || parsed.span <= duration{} || parsed.clock <= 0) return parsed;
        break;
    case 'n':
        parsed.subject = take_word(rest);
        parsed.span = limited_milliseconds(std::max<std::int64_t>(0, take_number(rest)));
        break;
    default: return parsed;
    }
    parsed.kind = kind;
    return parsed;
}

std::vector<lock_info> read_locks(const std::vector<row>& rows) {
    std::vector<lock_info> locks;
    for (const auto& each : rows) {
        auto name = name_of(text_in(each, 0));
        if (locks.empty() || locks.back().name != name) {
            lock_info info{std::move(name), {}, static_cast<std::uint64_t>(number_in(each, 1))};
            info.permits = static_cast<std::uint32_t>(number_in(each, 2));
            locks.push_back(std::move(info));
        }
        if (each.size() < 10 || !each[3]) continue;
        holder shown;
        read_process(text_in(each, 4), shown);
        shown.mode = static_cast<lock_mode>(std::clamp<std::int64_t>(number_in(each, 5), 0, 2));
        if (shown.mode == lock_mode::permits)
            shown.permits = static_cast<std::uint32_t>(number_in(each, 6));
        shown.token = token_in(each, 7);
        constexpr std::int64_t latest_us = std::int64_t{1} << 52;  // in the year 2112
        shown.since = std::chrono::system_clock::time_point(
            std::chrono::microseconds(std::clamp<std::int64_t>(number_in(each, 8), 0, latest_us)));
        shown.remaining = milliseconds_in(each, 9);
        shown.owner = text_in(each, 3).substr(0, 8);
        auto& info = locks.back();
        if (info.held_by)
            info.others.push_back(std::move(shown));
        else
            info.held_by = std::move(shown);
    }
    for (auto& each : locks)
        core::set_free_permits(each);
    return locks;
}

}  // namespace pawl::sql
