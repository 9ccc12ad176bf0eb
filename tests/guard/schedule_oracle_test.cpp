// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Each minute of a year in many zones, compared with the C library's local time: ticks strictly
// rise, none is missing and none is too many.
#include <pawl/guard/schedule.hpp>

#include <gtest/gtest.h>

#include <time.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace std::chrono;
using pawl::guard::cron_schedule;

struct minute_of_year {
    sys_seconds instant;
    minutes local;  // since 1970, as the clock on the wall shows it
};

// The C library, and not the library that Pawl uses.
std::vector<minute_of_year> minutes_of_2025(const std::string& zone) {
    ::setenv("TZ", zone.c_str(), 1);
    ::tzset();
    std::vector<minute_of_year> all;
    const sys_seconds end = sys_days(year(2026) / 1 / 1);
    for (sys_seconds instant = sys_days(year(2025) / 1 / 1); instant < end; instant += minutes(1)) {
        const time_t seconds = instant.time_since_epoch().count();
        tm local{};
        ::localtime_r(&seconds, &local);
        all.push_back(
            {instant, duration_cast<minutes>(std::chrono::seconds(seconds + local.tm_gmtoff))});
    }
    ::unsetenv("TZ");
    ::tzset();
    return all;
}

struct local_time {
    unsigned minute, hour, day, month, weekday;
};

local_time parts_of(minutes local) {
    const auto day = floor<days>(local);
    const year_month_day date{sys_days(day)};
    const auto rest = static_cast<unsigned>((local - day).count());
    return {rest % 60, rest / 60, static_cast<unsigned>(date.day()),
            static_cast<unsigned>(date.month()), weekday(sys_days(day)).c_encoding()};
}

struct line {
    const char* text;
    bool follows_instants;
    std::function<bool(const local_time&)> matches;
};

std::vector<line> lines() {
    return {
        {"30 2 * * *", false, [](const local_time& t) { return t.minute == 30 && t.hour == 2; }},
        {"0 0 * * *", false, [](const local_time& t) { return t.minute == 0 && t.hour == 0; }},
        {"*/30 * * * *", true, [](const local_time& t) { return t.minute % 30 == 0; }},
        {"15 */2 * * *", true,
         [](const local_time& t) { return t.minute == 15 && t.hour % 2 == 0; }},
        {"*/20 0-3 * * mon-fri", false,
         [](const local_time& t) {
             return t.minute % 20 == 0 && t.hour <= 3 && t.weekday >= 1 && t.weekday <= 5;
         }},
        {"45 23 28-31 * *", false,
         [](const local_time& t) { return t.minute == 45 && t.hour == 23 && t.day >= 28; }},
        {"5,35 0-23/6 13 3,10 fri", true,
         [](const local_time& t) {
             return t.minute % 30 == 5 && t.hour % 6 == 0 && (t.month == 3 || t.month == 10) &&
                    (t.day == 13 || t.weekday == 5);
         }},
        {"59 1,2 */2 * sun", false,
         [](const local_time& t) {
             return t.minute == 59 && (t.hour == 1 || t.hour == 2) && t.day % 2 == 1 &&
                    t.weekday == 0;
         }},
    };
}

// A fixed time is due when the clock first shows it or a later time.
std::vector<sys_seconds> expected_ticks(const std::vector<minute_of_year>& year, const line& each) {
    std::vector<sys_seconds> ticks;
    auto latest = year.front().local - minutes(1);
    for (const auto& [instant, local] : year) {
        bool is_due = each.follows_instants && each.matches(parts_of(local));
        if (!each.follows_instants)
            for (; latest < local; ++latest)
                is_due = each.matches(parts_of(latest + minutes(1))) || is_due;
        if (is_due) ticks.push_back(instant);
    }
    return ticks;
}

std::vector<sys_seconds> actual_ticks(const std::vector<minute_of_year>& year, const line& each,
                                      const std::string& zone) {
    const auto schedule = cron_schedule::parse(each.text, zone);
    std::vector<sys_seconds> ticks;
    auto next = schedule.next(year.front().instant - 1s);
    for (; next && next->due <= year.back().instant; next = schedule.next(next->due)) {
        EXPECT_TRUE(ticks.empty() || ticks.back() < next->due);
        ticks.push_back(next->due);
    }
    return ticks;
}

class ScheduleOracle : public ::testing::TestWithParam<const char*> {};

TEST_P(ScheduleOracle, HasTheSameTicks) {
    const std::string zone = GetParam();
    const auto year = minutes_of_2025(zone);
    for (const auto& each : lines()) {
        const auto expected = expected_ticks(year, each);
        EXPECT_FALSE(expected.empty()) << each.text;
        EXPECT_EQ(actual_ticks(year, each, zone), expected) << zone << ' ' << each.text;
    }
}

// Half hours, 45 minutes, two hours, a gap at midnight, a summer time that is the normal one, and a
// winter time for Ramadan.
INSTANTIATE_TEST_SUITE_P(Zones, ScheduleOracle,
                         ::testing::Values("UTC", "Europe/Berlin", "Europe/Dublin",
                                           "America/New_York", "America/St_Johns",
                                           "America/Santiago", "America/Nuuk", "Africa/Casablanca",
                                           "Africa/Cairo", "Asia/Beirut", "Asia/Kathmandu",
                                           "Australia/Lord_Howe", "Pacific/Chatham", "Pacific/Apia",
                                           "Antarctica/Troll"));

}  // namespace
