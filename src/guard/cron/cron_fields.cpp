// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "cron_fields.hpp"

#include <pawl/error.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <span>
#include <string>
#include <vector>

namespace pawl::guard {
namespace {

using namespace std::chrono;

constexpr std::array<std::string_view, 12> month_names{"jan", "feb", "mar", "apr", "may", "jun",
                                                       "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> weekday_names{"sun", "mon", "tue", "wed",
                                                        "thu", "fri", "sat"};

struct field_kind {
    std::string_view name;
    unsigned min, max;
    std::span<const std::string_view> names{};  // of the numbers from `min` on
};

constexpr std::array<field_kind, 6> kinds{{{"second", 0, 59},
                                           {"minute", 0, 59},
                                           {"hour", 0, 23},
                                           {"day of month", 1, 31},
                                           {"month", 1, 12, month_names},
                                           {"day of week", 0, 7, weekday_names}}};

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (true) {
        text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
        if (text.empty()) return words;
        words.push_back(text.substr(0, text.find_first_of(" \t")));
        text.remove_prefix(words.back().size());
    }
}

// Parses one field.
class field_parser {
public:
    field_parser(const field_kind& kind, std::string_view field) : kind_(kind), field_(field) {}

    // The numbers of the field, as bits.
    [[nodiscard]] std::bitset<60> parse() const {
        refuse_foreign_letters();
        std::bitset<60> numbers;
        for (auto rest = field_;;) {
            add_part(numbers, rest.substr(0, rest.find(',')));
            const auto comma = rest.find(',');
            if (comma == std::string_view::npos) return numbers;
            rest.remove_prefix(comma + 1);
        }
    }

private:
    [[noreturn]] void fail(const std::string& advice) const {
        throw error(errc::bad_option, "The " + std::string(kind_.name) + " '" +
                                          std::string(field_) + "' of the schedule " + advice);
    }

    // Quartz' letters mean what no list of numbers says.
    void refuse_foreign_letters() const {
        const auto is_number_with = [](std::string_view part) {
            return part.find_first_of("0123456789") != std::string_view::npos &&
                   part.find_first_of("LlWw") != std::string_view::npos;
        };
        if (field_.find_first_of("?#") == std::string_view::npos && field_ != "L" &&
            field_ != "l" && field_ != "W" && field_ != "LW" && !is_number_with(field_))
            return;
        fail("is of Quartz, whose L, W, # and ? are not known here; write numbers, or `*`.");
    }

    void add_part(std::bitset<60>& numbers, std::string_view part) const {
        const auto slash = part.find('/');
        const auto range = part.substr(0, slash);
        const bool is_range = range == "*" || range.find('-', 1) != std::string_view::npos;
        if (slash != std::string_view::npos && !is_range) {
            static_cast<void>(parse_value(range));  // something else is wrong with a name
            fail("has a step without a range; write a range, as in " + std::string(range) + "-" +
                 std::to_string(kind_.max) + "/" + std::string(part.substr(slash + 1)) + ".");
        }
        const auto step = slash == std::string_view::npos ? 1 : parse_step(part.substr(slash + 1));
        auto [first, last] = parse_range(range);
        for (; first <= last; first += step)
            numbers.set(first);
    }

    [[nodiscard]] unsigned parse_step(std::string_view text) const {
        const auto step = parse_number(text);
        if (!step || *step == 0 || *step > kind_.max)
            fail("has a step that is not a number from 1 to " + std::to_string(kind_.max) + ".");
        return *step;
    }

    [[nodiscard]] std::pair<unsigned, unsigned> parse_range(std::string_view text) const {
        // 7 is Sunday, as 0 is.
        if (text == "*") return {kind_.min, is_weekday() ? 6 : kind_.max};
        const auto dash = text.find('-', 1);
        const auto first = parse_value(text.substr(0, dash));
        if (dash == std::string_view::npos) return {first, first};
        auto last = parse_value(text.substr(dash + 1));
        if (is_weekday() && last == 0 && first > 0) last = 7;  // fri-sun
        if (last < first)
            fail("has a range that ends before it begins; write two ranges, as in " +
                 std::to_string(first) + "-" + std::to_string(is_weekday() ? 6 : kind_.max) + "," +
                 std::to_string(kind_.min) + "-" + std::to_string(last) + ".");
        return {first, last};
    }

    [[nodiscard]] unsigned parse_value(std::string_view text) const {
        if (const auto number = parse_number(text)) {
            if (*number >= kind_.min && *number <= kind_.max) return *number;
            fail("is out of range; give " + std::to_string(kind_.min) + " to " +
                 std::to_string(kind_.max) + ".");
        }
        std::string name(text);
        std::ranges::transform(name, name.begin(),
                               [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        const auto position = std::ranges::find(kind_.names, name);
        if (position == kind_.names.end())
            fail("is not understood; give numbers from " + std::to_string(kind_.min) + " to " +
                 std::to_string(kind_.max) +
                 (kind_.names.empty() ? "" : ", or names such as " + std::string(kind_.names[1])) +
                 ", as in 1,2 or 1-5 or */2." +
                 (is_weekday() ? " A schedule has 5 fields, or 6 with seconds first." : ""));
        return kind_.min + static_cast<unsigned>(position - kind_.names.begin());
    }

    static std::optional<unsigned> parse_number(std::string_view text) {
        unsigned number = 0;
        const auto* end = text.data() + text.size();
        const auto parsed = std::from_chars(text.data(), end, number);
        const bool is_digits = !text.empty() && text.size() <= 4 &&
                               text.find_first_not_of("0123456789") == std::string_view::npos;
        if (!is_digits || parsed.ec != std::errc{}) return {};
        return number;
    }

    [[nodiscard]] bool is_weekday() const { return kind_.max == 7; }

    const field_kind& kind_;
    std::string_view field_;
};

template <std::size_t Size>
std::bitset<Size> narrowed(const std::bitset<60>& numbers) {
    std::bitset<Size> result;
    for (std::size_t i = 0; i < Size; ++i)
        result[i] = numbers[i];
    return result;
}

bool matches_day(const cron_fields& fields, local_days day) {
    const year_month_day date(day);
    if (!fields.months[static_cast<unsigned>(date.month())]) return false;
    const bool in_days = fields.days[static_cast<unsigned>(date.day())];
    const bool in_weekdays = fields.weekdays[weekday(day).c_encoding()];
    // As Vixie's cron: two restricted fields are alternatives.
    if (fields.any_day || fields.any_weekday) return in_days && in_weekdays;
    return in_days || in_weekdays;
}

// The first set bit from `from` on; the size if there is none.
template <std::size_t Size>
std::size_t next_bit(const std::bitset<Size>& bits, std::size_t from) {
    while (from < Size && !bits[from])
        ++from;
    return from;
}

// The first time of the day that matches, from `from` on.
std::optional<seconds> first_time(const cron_fields& fields, seconds from) {
    const hh_mm_ss<seconds> start(from);
    auto hour = static_cast<std::size_t>(start.hours().count());
    auto minute = static_cast<std::size_t>(start.minutes().count());
    auto second = next_bit(fields.seconds, static_cast<std::size_t>(start.seconds().count()));
    if (second == fields.seconds.size()) {
        second = next_bit(fields.seconds, 0);
        ++minute;
    }
    if (const auto next = next_bit(fields.minutes, minute); next != minute) {
        minute = next;
        second = next_bit(fields.seconds, 0);
    }
    if (minute >= fields.minutes.size()) {
        minute = next_bit(fields.minutes, 0);
        second = next_bit(fields.seconds, 0);
        ++hour;
    }
    if (const auto next = next_bit(fields.hours, hour); next != hour) {
        hour = next;
        minute = next_bit(fields.minutes, 0);
        second = next_bit(fields.seconds, 0);
    }
    if (hour >= fields.hours.size()) return {};
    return hours(hour) + minutes(minute) + seconds(second);
}

}  // namespace

cron_fields parse_cron_fields(std::string_view text) {
    auto words = words_of(text);
    if (words.size() != 5 && words.size() != 6)
        throw error(errc::bad_option,
                    "The schedule '" + std::string(text) + "' has " + std::to_string(words.size()) +
                        " fields; give 5 (minute, hour, day of month, month, day of week), or 6 "
                        "with seconds first.");
    if (words.size() == 5) words.insert(words.begin(), "0");
    std::array<std::bitset<60>, 6> numbers;
    for (std::size_t i = 0; i < kinds.size(); ++i)
        numbers.at(i) = field_parser(kinds.at(i), words[i]).parse();
    cron_fields fields;
    fields.seconds = numbers[0];
    fields.minutes = numbers[1];
    fields.hours = narrowed<24>(numbers[2]);
    fields.days = narrowed<32>(numbers[3]);
    fields.months = narrowed<13>(numbers[4]);
    fields.weekdays = narrowed<7>(numbers[5]);
    if (numbers[5][7]) fields.weekdays.set(0);
    fields.any_day = words[3].starts_with('*');
    fields.any_weekday = words[5].starts_with('*');
    fields.follows_instants = words[2].find_first_of("*/") != std::string_view::npos;
    return fields;
}

std::optional<local_seconds> first_match(const cron_fields& fields, local_seconds from,
                                         local_seconds end) {
    auto day = floor<days>(from);
    auto start = from - day;
    for (; day < end; ++day, start = {}) {
        if (!matches_day(fields, day)) continue;
        const auto time = first_time(fields, start);
        if (!time) continue;
        const auto match = day + *time;
        return match < end ? std::optional(local_seconds(match)) : std::nullopt;
    }
    return {};
}

}  // namespace pawl::guard
