// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "cron_fields.hpp"

#include <pawl/error.hpp>
#include <pawl/guard/schedule.hpp>
#include <pawl/parse_duration.hpp>

#include <cctz/civil_time.h>
#include <cctz/time_zone.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace pawl::guard {

using std::chrono::local_seconds;
using std::chrono::sys_seconds;
using namespace std::chrono_literals;

struct cron_schedule::definition {
    std::string text, zone_name;
    cctz::time_zone zone = cctz::utc_time_zone();
    std::chrono::seconds period{};  // of @every; otherwise 0
    cron_fields fields{};

    [[nodiscard]] std::optional<tick> next_civil(sys_seconds after) const;
    [[nodiscard]] std::optional<tick> next_instant(sys_seconds after) const;
    [[nodiscard]] std::string civil_key(local_seconds civil) const;
};

namespace {

using cctz_seconds = cctz::time_point<cctz::seconds>;

// The calendar repeats after 400 years. A Monday that is a 29 February may be 40 years away.
constexpr std::chrono::seconds longest_search = std::chrono::days(146'097);

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> nicknames{
    {{"@yearly", "0 0 1 1 *"},
     {"@annually", "0 0 1 1 *"},
     {"@monthly", "0 0 1 * *"},
     {"@weekly", "0 0 * * 0"},
     {"@daily", "0 0 * * *"},
     {"@midnight", "0 0 * * *"},
     {"@hourly", "0 * * * *"}}};

sys_seconds to_sys(const cctz_seconds& instant) {
    return sys_seconds(std::chrono::seconds(instant.time_since_epoch().count()));
}

cctz_seconds to_cctz(sys_seconds instant) { return cctz_seconds(instant.time_since_epoch()); }

cctz::civil_second to_civil(local_seconds local) {
    const auto day = std::chrono::floor<std::chrono::days>(local);
    const std::chrono::year_month_day date(day);
    const cctz::civil_second midnight(static_cast<int>(date.year()),
                                      static_cast<unsigned>(date.month()),
                                      static_cast<unsigned>(date.day()));
    return midnight + (local - day).count();
}

local_seconds local_of(const cctz::time_zone& zone, sys_seconds instant) {
    const std::chrono::seconds offset(zone.lookup(to_cctz(instant)).offset);
    return local_seconds(instant.time_since_epoch() + offset);
}

// A time that the zone skips is at the transition; of two equal times the first one counts.
sys_seconds instant_of(const cctz::time_zone& zone, local_seconds civil) {
    const auto times = zone.lookup(to_civil(civil));
    const bool is_skipped = times.kind == cctz::time_zone::civil_lookup::SKIPPED;
    return to_sys(is_skipped ? times.trans : times.pre);
}

// The first change of the offset after the instant.
sys_seconds next_transition(const cctz::time_zone& zone, sys_seconds after) {
    cctz::time_zone::civil_transition change;
    if (!zone.next_transition(to_cctz(after), &change)) return sys_seconds::max();
    return to_sys(zone.lookup(change.to).trans);
}

std::string civil_text(local_seconds local, char separator) {
    const auto civil = to_civil(local);
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%04lld-%02d-%02d%c%02d:%02d:%02d",
                  static_cast<long long>(civil.year()), civil.month(), civil.day(), separator,
                  civil.hour(), civil.minute(), civil.second());
    return text.data();
}

std::string instant_key(sys_seconds instant) {
    return civil_text(local_seconds(instant.time_since_epoch()), 'T') + "Z";
}

// cctz reads a file of any path, and "localtime" differs from host to host.
bool is_zone_name(std::string_view name) {
    const auto is_allowed = [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '/' || c == '_' || c == '-' || c == '+';
    };
    return !name.empty() && name.size() <= 64 && name.front() != '/' && name != "localtime" &&
           std::ranges::all_of(name, is_allowed);
}

cctz::time_zone load_zone(std::string_view name) {
    cctz::time_zone zone;
    if (is_zone_name(name) && cctz::load_time_zone(std::string(name), &zone)) return zone;
    throw error(errc::bad_option,
                "The time zone '" + std::string(name) +
                    "' is unknown on this host; give a name such as UTC or Europe/Berlin, and "
                    "install the package tzdata if it is missing.");
}

std::chrono::seconds parse_period(std::string_view text) {
    const auto period = parse_duration(text);
    if (!period || *period < 1s || *period > 8784h || *period % 1s != 0s)
        throw error(errc::bad_option,
                    "'" + std::string(text) +
                        "' is not a period for @every; give whole seconds from 1s to 366d, such as "
                        "90s or 2h.");
    return std::chrono::duration_cast<std::chrono::seconds>(*period);
}

std::string_view trimmed(std::string_view text) {
    const auto first = std::min(text.find_first_not_of(" \t"), text.size());
    text.remove_prefix(first);
    return text.substr(0, text.find_last_not_of(" \t") + 1);
}

cron_fields parse_nickname(std::string_view text) {
    for (const auto& [name, meaning] : nicknames)
        if (text == name) return parse_cron_fields(meaning);
    throw error(errc::bad_option, "'" + std::string(text) +
                                      "' is not a schedule; there are @hourly, @daily, @weekly, "
                                      "@monthly, @yearly and @every TIME.");
}

}  // namespace

cron_schedule::cron_schedule(std::shared_ptr<const definition> parsed) noexcept
    : definition_(std::move(parsed)) {}

cron_schedule cron_schedule::parse(std::string_view text, std::string_view zone) {
    constexpr std::string_view every = "@every ";
    const auto words = trimmed(text);
    auto parsed = std::make_shared<definition>();
    parsed->text = words;
    parsed->zone_name = zone;
    parsed->zone = load_zone(zone);
    if (words.starts_with(every)) {
        parsed->period = parse_period(trimmed(words.substr(every.size())));
        return cron_schedule(std::move(parsed));
    }
    parsed->fields = words.starts_with('@') ? parse_nickname(words) : parse_cron_fields(words);
    const local_seconds any_year(std::chrono::local_days(std::chrono::year(2000) / 1 / 1));
    if (!first_match(parsed->fields, any_year, any_year + longest_search))
        throw error(errc::bad_option, "The schedule '" + parsed->text +
                                          "' is never due, because its months do not have that "
                                          "day; change the day or the month.");
    return cron_schedule(std::move(parsed));
}

std::optional<tick> cron_schedule::next(sys_seconds after) const {
    if (definition_->period == 0s)
        return definition_->fields.follows_instants ? definition_->next_instant(after)
                                                    : definition_->next_civil(after);
    const auto count = after.time_since_epoch() / definition_->period + 1;
    const sys_seconds due(count * definition_->period);
    return tick{due, instant_key(due)};
}

// In a gap, several local times may have one instant: the first of them is the tick.
std::optional<tick> cron_schedule::definition::next_civil(sys_seconds after) const {
    auto from = local_of(zone, after);
    const auto end = from + longest_search;
    while (const auto civil = first_match(fields, from, end)) {
        const auto due = instant_of(zone, *civil);
        if (due > after) return tick{due, civil_key(*civil)};
        from = *civil + 1s;
    }
    return {};
}

// Between two transitions, local time and instants advance together.
std::optional<tick> cron_schedule::definition::next_instant(sys_seconds after) const {
    auto from = after + 1s;
    const auto end = from + longest_search;
    while (from < end) {
        const auto change = std::min(next_transition(zone, from), end);
        const auto local = local_of(zone, from);
        if (const auto match = first_match(fields, local, local + (change - from))) {
            const auto due = from + (*match - local);
            return tick{due, instant_key(due)};
        }
        from = change;
    }
    return {};
}

std::string cron_schedule::definition::civil_key(local_seconds civil) const {
    return civil_text(civil, 'T') + (zone_name == "UTC" ? "Z" : "[" + zone_name + "]");
}

const std::string& cron_schedule::text() const noexcept { return definition_->text; }

const std::string& cron_schedule::zone() const noexcept { return definition_->zone_name; }

std::string cron_schedule::local_text(sys_seconds instant) const {
    const auto& zone = definition_->zone;
    return civil_text(local_of(zone, instant), ' ') + " " + zone.lookup(to_cctz(instant)).abbr;
}

}  // namespace pawl::guard
