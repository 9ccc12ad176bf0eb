// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The fields of a line of cron, and the local times that they match. Knows no time zones.
#pragma once

#include <bitset>
#include <chrono>
#include <optional>
#include <string_view>

namespace pawl::guard {

struct cron_fields {
    std::bitset<60> seconds, minutes;
    std::bitset<24> hours;
    std::bitset<32> days;  // from 1
    std::bitset<13> months;
    std::bitset<7> weekdays;  // Sunday is 0
    // A field that begins with `*` does not restrict the day.
    bool any_day = false, any_weekday = false;
    // The hours have `*` or a step.
    bool follows_instants = false;
};

// Five or six fields. Throws errc::bad_option.
[[nodiscard]] cron_fields parse_cron_fields(std::string_view text);

// The first match from `from` on, before `end`.
[[nodiscard]] std::optional<std::chrono::local_seconds> first_match(const cron_fields& fields,
                                                                    std::chrono::local_seconds from,
                                                                    std::chrono::local_seconds end);

}  // namespace pawl::guard
