// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Times at which a job is due, as lines of cron write them, in any time zone:
// docs/guide/schedules.md.
#pragma once

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error "Pawl needs C++20: compile with -std=c++20"
#endif

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::guard {

// A time at which a schedule is due.
struct tick {
    // The instant.
    std::chrono::sys_seconds due{};
    // Names the tick on all hosts, also on those with other time zone data. With fixed hours it is
    // the local time, such as "2026-03-29T02:30:00[Europe/Berlin]", otherwise the instant, such as
    // "2026-10-25T00:30:00Z".
    std::string key{};
};

// When a job is due. An immutable value; thread-safe.
//
// A schedule whose hours are fixed runs each local time once: a time that a zone skips is due at
// the transition, and of two equal times the first one counts. A schedule with `*` or a step in its
// hours follows the instants: it skips what the clock skips, and repeats what the clock repeats.
class cron_schedule {
public:
    // Five fields of cron (minute, hour, day of month, month, day of week), or six with seconds
    // first; @hourly, @daily, @weekly, @monthly, @yearly; or "@every 90s", which counts from 1970,
    // so that all hosts agree. Fields have lists, ranges, steps and English names. If both days are
    // restricted, either is enough; a field that begins with `*` is not restricted.
    //
    // The zone is a name of the IANA database, which the system must have. Throws errc::bad_option
    // with a sentence that names the field, also for a schedule that is never due.
    [[nodiscard]] static cron_schedule parse(std::string_view text, std::string_view zone = "UTC");

    // The first tick after the instant; empty if none is due within 400 years.
    [[nodiscard]] std::optional<tick> next(std::chrono::sys_seconds after) const;

    // As it was parsed.
    [[nodiscard]] const std::string& text() const noexcept;
    // The name of its zone.
    [[nodiscard]] const std::string& zone() const noexcept;
    // The instant in its zone, for people: "2026-03-29 03:00:00 CEST".
    [[nodiscard]] std::string local_text(std::chrono::sys_seconds instant) const;

private:
    struct definition;
    explicit cron_schedule(std::shared_ptr<const definition> parsed) noexcept;

    std::shared_ptr<const definition> definition_;
};

}  // namespace pawl::guard
