// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "progress.hpp"

#include "totals.hpp"

#include <algorithm>
#include <array>
#include <iomanip>
#include <ostream>
#include <sstream>

namespace real::soak {

namespace {

struct column {
    const char* title;
    int width;
};

constexpr std::array columns{
    column{"time", 8},    column{"environment", 17}, column{"round", 6},
    column{"holds", 11},  column{"/min", 8},         column{"losses", 8},
    column{"faults", 7},  column{"kills", 6},        column{"pauses", 7},
    column{"equal", 6},   column{"back", 5},         column{"overlap", 8},
    column{"refused", 8}, column{"errors", 8},       column{"client MiB", 11},
    column{"files", 6},   column{"server MiB", 11}};

std::array<std::string, columns.size()> cells_of(const sample& each) {
    const auto number = [](std::size_t value) { return std::to_string(value); };
    return {to_text(each.at),
            each.environment,
            number(each.round),
            number(each.holds),
            number(each.holds_per_minute),
            number(each.losses),
            number(each.faults),
            number(each.kills),
            number(each.pauses),
            number(each.equal_tokens),
            number(each.tokens_back),
            number(each.overlaps),
            number(each.refused),
            number(each.errors),
            mebibytes(each.client_bytes),
            number(each.descriptors),
            mebibytes(each.server_bytes)};
}

}  // namespace

milliseconds progress::time() const {
    return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin_);
}

void progress::begin_environment(const std::string& name, const std::string& description) {
    output_ << "\n" << name << ": " << description << "\n";
    for (const auto& each : columns)
        output_ << std::setw(each.width) << each.title;
    output_ << std::endl;
    counted_until_ = time();
}

void progress::add(sample next) {
    next.at = time();
    const auto minutes = std::chrono::duration<double, std::ratio<60>>(next.at - counted_until_);
    const auto holds = static_cast<double>(next.holds - holds_until_);
    next.holds_per_minute =
        static_cast<std::size_t>(holds / std::max(minutes.count(), 1.0 / 60'000));
    counted_until_ = next.at;
    holds_until_ = next.holds;
    const auto cells = cells_of(next);
    for (std::size_t i = 0; i < columns.size(); ++i)
        output_ << std::setw(columns[i].width) << cells[i];
    output_ << std::endl;
    samples_.push_back(std::move(next));
}

std::string to_text(milliseconds time) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
    std::ostringstream text;
    text << std::setfill('0') << seconds / 3600 << ":" << std::setw(2) << seconds / 60 % 60 << ":"
         << std::setw(2) << seconds % 60;
    return text.str();
}

}  // namespace real::soak
