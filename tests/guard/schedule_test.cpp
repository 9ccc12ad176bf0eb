// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Schedules at the changes of clocks, and their syntax.
#include <pawl/error.hpp>
#include <pawl/guard/schedule.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace std::chrono;
using pawl::guard::cron_schedule;
using strings = std::vector<std::string>;

sys_seconds at(int year, unsigned month, unsigned day, int hour = 0, int minute = 0) {
    return sys_days(std::chrono::year(year) / month / day) + hours(hour) + minutes(minute);
}

// "2026-03-29 01:00:00" in UTC.
std::string utc(sys_seconds instant) {
    static const auto clock = cron_schedule::parse("@daily");
    return clock.local_text(instant).substr(0, 19);
}

// The ticks in the time from `from` on, in UTC, as HH:MM or, on another day, DD HH:MM.
strings ticks_in(const std::string& text, const std::string& zone, sys_seconds from, hours span) {
    const auto schedule = cron_schedule::parse(text, zone);
    strings ticks;
    auto next = schedule.next(from - 1s);
    for (; next && next->due < from + span; next = schedule.next(next->due))
        ticks.push_back(utc(next->due).substr(floor<days>(next->due) == floor<days>(from) ? 11 : 8,
                                              floor<days>(next->due) == floor<days>(from) ? 5 : 8));
    return ticks;
}

std::string key_of(const std::string& text, const std::string& zone, sys_seconds after) {
    return cron_schedule::parse(text, zone).next(after).value().key;
}

std::string refusal_of(const std::string& text, const std::string& zone = "UTC") {
    try {
        static_cast<void>(cron_schedule::parse(text, zone));
    } catch (const pawl::error& problem) {
        EXPECT_EQ(problem.reason(), pawl::errc::bad_option);
        return problem.what();
    }
    return "accepted";
}

// 02:30 in Berlin, on 29 March 2026, when 02:00 is followed by 03:00 (at 01:00 UTC).
//   Debian's cron: soon after the change. systemd 252, Quartz 2.3, robfig/cron v3 (Kubernetes) and
//   croncpp: not at all. croniter 1.3 with pytz: at 01:30 and 03:30.
TEST(ScheduleAtTheGap, AFixedTimeIsDueAtTheTransition) {
    EXPECT_EQ(ticks_in("30 2 * * *", "Europe/Berlin", at(2026, 3, 28, 12), 24h),
              strings{"29 01:00"});
    EXPECT_EQ(key_of("30 2 * * *", "Europe/Berlin", at(2026, 3, 28, 12)),
              "2026-03-29T02:30:00[Europe/Berlin]");
    EXPECT_EQ(ticks_in("30 2 * * *", "Europe/Berlin", at(2026, 3, 29, 12), 24h),
              strings{"30 00:30"});
}

// Several skipped times, and one that the transition leads to, are due at one instant: once.
TEST(ScheduleAtTheGap, SeveralFixedTimesAreOneTick) {
    EXPECT_EQ(ticks_in("0,30 2,3 * * *", "Europe/Berlin", at(2026, 3, 29), 24h),
              (strings{"01:00", "01:30"}));
    EXPECT_EQ(key_of("0,30 2,3 * * *", "Europe/Berlin", at(2026, 3, 29)),
              "2026-03-29T02:00:00[Europe/Berlin]");
}

// 00:00 in Santiago, on 6 September 2026, when 23:59 is followed by 01:00 (at 04:00 UTC).
//   systemd, Quartz and robfig/cron: not on that day.
TEST(ScheduleAtTheGap, AMidnightThatDoesNotExistIsDueAtOne) {
    EXPECT_EQ(ticks_in("0 0 * * *", "America/Santiago", at(2026, 9, 5, 6), 48h),
              (strings{"06 04:00", "07 03:00"}));
    const auto due = cron_schedule::parse("0 0 * * *", "America/Santiago").next(at(2026, 9, 5, 6));
    EXPECT_EQ(cron_schedule::parse("@daily", "America/Santiago").local_text(due->due),
              "2026-09-06 01:00:00 -03");
}

TEST(ScheduleAtTheGap, AStepInTheHoursSkipsWhatTheClockSkips) {
    EXPECT_EQ(ticks_in("30 */2 * * *", "Europe/Berlin", at(2026, 3, 28, 23), 6h),
              (strings{"23:30", "29 02:30", "29 04:30"}));
}

// 02:30 in Berlin, on 25 October 2026, when 03:00 is followed by 02:00 (at 01:00 UTC).
//   Debian's cron, systemd, croniter and croncpp: the first one. Quartz: the second one.
//   robfig/cron v3: both.
TEST(ScheduleAtTheOverlap, TheFirstOfTwoEqualTimesCounts) {
    EXPECT_EQ(ticks_in("30 2 * * *", "Europe/Berlin", at(2026, 10, 24, 12), 24h),
              strings{"25 00:30"});
    EXPECT_EQ(ticks_in("30 2 * * *", "Europe/Berlin", at(2026, 10, 25, 1), 26h),
              strings{"26 01:30"});
}

// Every half hour in that night.
//   Debian's cron and robfig/cron: all. systemd leaves the second hour out, Quartz and croncpp the
//   first one.
TEST(ScheduleAtTheOverlap, AStepInTheHoursRepeatsWhatTheClockRepeats) {
    EXPECT_EQ(ticks_in("*/30 * * * *", "Europe/Berlin", at(2026, 10, 25), 2h),
              (strings{"00:00", "00:30", "01:00", "01:30"}));
    EXPECT_EQ(key_of("*/30 * * * *", "Europe/Berlin", at(2026, 10, 25, 0, 10)),
              "2026-10-25T00:30:00Z");
    EXPECT_EQ(ticks_in("*/30 2 * * *", "Europe/Berlin", at(2026, 10, 25), 12h),
              (strings{"00:00", "00:30"}))
        << "a fixed hour";
}

// Clocks there move by half an hour: on 4 October 2026, 02:00 is followed by 02:30 (15:30 UTC), and
// on 5 April, 02:00 by 01:30 (15:00 UTC).
TEST(ScheduleAtLordHowe, HalfAnHourIsEnough) {
    const std::string zone = "Australia/Lord_Howe";
    EXPECT_EQ(ticks_in("15 2 * * *", zone, at(2026, 10, 3, 12), 12h), strings{"15:30"});
    EXPECT_EQ(ticks_in("45 2 * * *", zone, at(2026, 10, 3, 12), 12h), strings{"15:45"});
    EXPECT_EQ(ticks_in("45 1 * * *", zone, at(2026, 4, 4, 12), 12h), strings{"14:45"});
    EXPECT_EQ(ticks_in("*/15 * * * *", zone, at(2026, 4, 4, 14, 30), 1h),
              (strings{"14:30", "14:45", "15:00", "15:15"}));
}

// On 30 December 2011, Samoa had no day.
TEST(ScheduleAtTheGap, ADayThatDoesNotExistIsDueAtTheNext) {
    EXPECT_EQ(ticks_in("0 12 * * *", "Pacific/Apia", at(2011, 12, 29), 72h),
              (strings{"22:00", "30 10:00", "30 22:00", "31 22:00"}));
}

TEST(Schedule, LeapDaysAndEndsOfYears) {
    const auto next = [](const std::string& text, sys_seconds after) {
        return utc(cron_schedule::parse(text).next(after).value().due);
    };
    EXPECT_EQ(next("0 0 29 2 *", at(2026, 1, 1)), "2028-02-29 00:00:00");
    EXPECT_EQ(next("0 0 29 feb *", at(2096, 2, 29)), "2104-02-29 00:00:00") << "2100 has none";
    EXPECT_EQ(next("0 */1 29 2 *", at(2096, 3, 1)), "2104-02-29 00:00:00");
    EXPECT_EQ(next("0 0 29 2 */6", at(2032, 3, 1)), "2048-02-29 00:00:00") << "a Saturday";
    EXPECT_EQ(next("0 * 29 2 */7", at(2032, 3, 1)), "2060-02-29 00:00:00") << "a Sunday";
    EXPECT_EQ(next("59 23 31 12 *", at(2026, 12, 31, 23, 59)), "2027-12-31 23:59:00");
    EXPECT_EQ(next("* * * * *", at(2026, 12, 31, 23, 59)), "2027-01-01 00:00:00");
    EXPECT_EQ(next("0 0 31 * *", at(2026, 3, 31)), "2026-05-31 00:00:00") << "April has 30 days";
    EXPECT_EQ(next("30 59 23 * * *", at(2026, 3, 1)), "2026-03-01 23:59:30") << "with seconds";
    EXPECT_EQ(next("*/20 * * * * *", at(2026, 3, 1)), "2026-03-01 00:00:20");
}

TEST(Schedule, NamesRangesStepsAndNicknames) {
    const auto days_of = [](const std::string& text) {
        return ticks_in(text, "UTC", at(2026, 6, 1), 24h * 7);  // a Monday
    };
    EXPECT_EQ(days_of("0 9 * * mon-fri"), days_of("0 9 * * 1-5"));
    EXPECT_EQ(days_of("0 9 * * SAT,Sun"), (strings{"06 09:00", "07 09:00"}));
    EXPECT_EQ(days_of("0 9 * * 6-7"), days_of("0 9 * * sat-sun"));
    EXPECT_EQ(days_of("0 9 * * 0"), days_of("0 9 * * 7"));
    EXPECT_EQ(days_of("@weekly"), (strings{"07 00:00"}));
    EXPECT_EQ(days_of("@monthly"), (strings{"00:00"}));
    EXPECT_EQ(days_of("@daily").size(), 7U);
    EXPECT_EQ(days_of("@hourly").size(), 7U * 24);
    EXPECT_EQ(days_of("0 0 * jan-may *"), strings{});
    EXPECT_EQ(days_of("10-50/20 12 1 * *"), (strings{"12:10", "12:30", "12:50"}));
    EXPECT_EQ(ticks_in("@yearly", "UTC", at(2026, 1, 1), 24h), strings{"00:00"});
}

// As Vixie's cron: two restricted days are alternatives, and `*` or `*/2` restricts nothing.
TEST(Schedule, OneOfTwoRestrictedDaysIsEnough) {
    EXPECT_EQ(ticks_in("0 9 3 * fri", "UTC", at(2026, 6, 1), 24h * 7),
              (strings{"03 09:00", "05 09:00"}));
    EXPECT_EQ(ticks_in("0 9 */2 * fri", "UTC", at(2026, 6, 1), 24h * 14), strings{"05 09:00"})
        << "Fridays with an odd date";
}

TEST(Schedule, APeriodCountsFrom1970) {
    EXPECT_EQ(ticks_in("@every 90s", "UTC", at(2026, 1, 1), 1h).size(), 40U);
    const auto weeks = cron_schedule::parse("@every 7d", "Europe/Berlin").next(at(2026, 1, 1));
    EXPECT_EQ((weeks->due - sys_seconds()) % (24h * 7), 0s);
    EXPECT_EQ(weeks->key, utc(weeks->due).replace(10, 1, "T") + "Z");
}

TEST(Schedule, RefusesEachMistakeWithASentence) {
    const auto begins = [](const std::string& text) { return "The " + text; };
    EXPECT_EQ(refusal_of("61 * * * *"),
              begins("minute '61' of the schedule is out of range; give 0 to 59."));
    EXPECT_EQ(refusal_of("0 24 * * *"),
              begins("hour '24' of the schedule is out of range; give 0 to 23."));
    EXPECT_EQ(refusal_of("0 0 0 * *"),
              begins("day of month '0' of the schedule is out of range; give 1 to 31."));
    EXPECT_EQ(refusal_of("0 0 * 13 *"),
              begins("month '13' of the schedule is out of range; give 1 to 12."));
    EXPECT_EQ(refusal_of("0 0 * * 8"),
              begins("day of week '8' of the schedule is out of range; give 0 to 7."));
    EXPECT_EQ(
        refusal_of("0 0 * * monday"),
        begins("day of week 'monday' of the schedule is not understood; give numbers from 0 "
               "to 7, or names such as mon, as in 1,2 or 1-5 or */2. A schedule has 5 fields, or 6 "
               "with seconds first."));
    EXPECT_EQ(refusal_of("5/15 * * * *"),
              begins("minute '5/15' of the schedule has a step without a range; write a range, as "
                     "in 5-59/15."));
    EXPECT_EQ(refusal_of("*/0 * * * *"),
              begins("minute '*/0' of the schedule has a step that is not a number from 1 to 59."));
    EXPECT_EQ(
        refusal_of("0 22-2 * * *"),
        begins("hour '22-2' of the schedule has a range that ends before it begins; write two "
               "ranges, as in 22-23,0-2."));
    for (const std::string quartz :
         {"0 0 L * *", "0 0 15W * *", "0 0 ? * 1", "0 0 * * 5#2", "0 0 * * 5L", "0 0 LW * *"})
        EXPECT_NE(refusal_of(quartz).find("is of Quartz, whose L, W, # and ? are not known here"),
                  std::string::npos)
            << quartz;
    for (const std::string part : {"", ",", "1,", "-1", "1-", "*,", "1--2", "+1", "00001", "*5"})
        EXPECT_NE(refusal_of(part + " 0 * * *"), "accepted") << part;
    EXPECT_EQ(refusal_of("0 0 30 2 *"),
              begins("schedule '0 0 30 2 *' is never due, because its months do not have that day; "
                     "change the day or the month."));
    EXPECT_EQ(
        refusal_of("* * *"),
        begins("schedule '* * *' has 3 fields; give 5 (minute, hour, day of month, month, day "
               "of week), or 6 with seconds first."));
    EXPECT_NE(refusal_of("@reboot").find("'@reboot' is not a schedule; there are @hourly"),
              std::string::npos);
    for (const std::string period : {"0", "500ms", "1500ms", "forever", "x", "-1s", "400d"})
        EXPECT_NE(refusal_of("@every " + period).find("is not a period for @every"),
                  std::string::npos)
            << period;
    for (const std::string zone : {"Mars/Phobos", "", "localtime", "/etc/localtime", "../UTC",
                                   "libc:localtime", "file:/etc/localtime"})
        EXPECT_EQ(refusal_of("@daily", zone), begins("time zone '" + zone +
                                                     "' is unknown on this host; give a name such "
                                                     "as UTC or Europe/Berlin, and install the "
                                                     "package tzdata if it is missing."));
}

}  // namespace
