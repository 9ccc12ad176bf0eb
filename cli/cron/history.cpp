// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "history.hpp"

#include "../ui/json.hpp"
#include "../ui/style.hpp"

#include <unistd.h>
#include <array>
#include <ctime>
#include <iostream>

namespace pawl::cli {

namespace {

// In UTC, with milliseconds; empty for the beginning of 1970.
std::string text_of(guard::store_time instant) {
    if (instant == guard::store_time()) return {};
    const auto seconds = std::chrono::floor<std::chrono::seconds>(instant);
    const std::time_t since = seconds.time_since_epoch().count();
    std::tm parts{};
    ::gmtime_r(&since, &parts);
    std::array<char, 32> text{};
    const auto size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(instant - seconds);
    return std::string(text.data(), size) + "." + std::to_string(1000 + ms.count()).substr(1) + "Z";
}

std::string result_of(const guard::tick_record& record) {
    if (record.state == guard::tick_state::done)
        return std::to_string(record.status) + (record.reason.empty() ? "" : ", " + record.reason);
    std::string text = to_string(record.state);
    if (!record.reason.empty()) text += ": " + record.reason;
    if (record.missed > 0) text += ", and " + std::to_string(record.missed) + " more";
    return text;
}

void write(json& text, const guard::tick_record& record) {
    text.begin_object();
    text.field("name", record.name).field("tick", record.key);
    text.field("due", text_of(record.due)).field("state", to_string(record.state));
    text.field("host", record.host).field("attempts", std::int64_t{record.attempts});
    text.field("began", text_of(record.began)).field("ended", text_of(record.ended));
    text.field("status", std::int64_t{record.status}).field("reason", record.reason);
    text.field("missed", std::int64_t{record.missed}).field("token", to_string(record.token));
    text.end_object();
}

}  // namespace

void print_history(const std::vector<guard::tick_record>& records, bool as_json) {
    if (as_json) {
        json text;
        text.begin_array();
        for (const auto& each : records)
            write(text, each);
        std::cout << text.end_array().str() << '\n';
        return;
    }
    if (records.empty()) {
        if (::isatty(STDOUT_FILENO) == 1) std::cout << "No command has run yet.\n";
        return;
    }
    table rows({{.title = "NAME"},
                {.title = "TICK"},
                {.title = "HOST"},
                {.title = "BEGAN"},
                {.title = "ENDED"},
                {.title = "ATTEMPTS", .side = table::align::right},
                {.title = "STATUS", .flexible = true}});
    for (const auto& each : records)
        rows.add({{printable(each.name)},
                  {printable(each.key)},
                  {printable(each.host)},
                  {text_of(each.began)},
                  {text_of(each.ended)},
                  {std::to_string(each.attempts)},
                  {printable(result_of(each))}});
    std::cout << rows.text(terminal_width(STDOUT_FILENO), wants_colour(STDOUT_FILENO));
}

}  // namespace pawl::cli
