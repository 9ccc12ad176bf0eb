// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "report.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iomanip>
#include <sstream>

namespace proofs {

namespace {

struct table_row {
    std::string label;
    std::vector<std::string> cells;  // of each run; none: a heading
};

struct count_row {
    const char* label;
    std::size_t verdict::*count;
};

constexpr std::array load_rows{count_row{"holds", &verdict::holds},
                               count_row{"writes accepted", &verdict::writes},
                               count_row{"holders that learned of their loss", &verdict::told},
                               count_row{"holds that the resource refused", &verdict::refused}};

constexpr std::array promised_rows{
    count_row{"equal tokens", &verdict::equal_tokens},
    count_row{"tokens that go back", &verdict::tokens_back},
    count_row{"overlapping holds where the table forbids them", &verdict::overlaps},
    count_row{"beliefs after the deadline", &verdict::late_beliefs},
    count_row{"lost updates", &verdict::lost_updates},
    count_row{"writes of an older token after a newer", &verdict::writes_back},
    count_row{"refused or overlapping holds, and no holder told", &verdict::untold}};

constexpr std::array clock_rows{
    count_row{"overlapping holds", &verdict::overlaps_by_clock},
    count_row{"refused or overlapping holds, not told", &verdict::untold_by_clock}};

struct allowance_row {
    const char* label;
    std::size_t allowance::*count;
};

constexpr std::array allowed_rows{
    allowance_row{"overlapping holds of two epochs", &allowance::overlaps},
    allowance_row{"smaller tokens of a replaced master", &allowance::smaller_tokens},
    allowance_row{"holds of a replaced master, not told", &allowance::untold}};

std::string escape(const std::string& text) {
    std::string result;
    for (const char each : text)
        result += each == '<' ? "&lt;" : each == '&' ? "&amp;" : std::string(1, each);
    return result;
}

const char* heading_of(fencing mode) {
    switch (mode) {
    case fencing::on: return "fencing";
    case fencing::off: return "fencing off";
    case fencing::naive: return "naive INCR";
    }
    return "";
}

std::vector<table_row> rows_of(const std::vector<run_result>& runs) {
    std::vector<table_row> rows;
    const auto add = [&](const std::string& label,
                         const std::function<std::string(const run_result&)>& cell) {
        rows.push_back({label, {}});
        for (const auto& each : runs)
            rows.back().cells.push_back(cell(each));
    };
    const auto add_counts = [&](const auto& counts) {
        for (const auto& row : counts)
            add(row.label,
                [&](const run_result& each) { return std::to_string(each.outcome.*row.count); });
    };
    add(runs.front().environment, [](const run_result& each) { return heading_of(each.mode); });
    add_counts(load_rows);
    add("clients killed", [](const run_result& each) { return std::to_string(each.kills); });
    add("clients paused", [](const run_result& each) { return std::to_string(each.pauses); });
    add("acquires that failed", [](const run_result& each) { return std::to_string(each.errors); });
    rows.push_back({"Faults", {}});
    for (const auto& [name, count] : runs.front().faults)
        add(name, [&](const run_result& each) { return std::to_string(each.faults.at(name)); });
    for (const auto& [name, reason] : runs.front().obstacles)
        add(name, [](const run_result&) { return "not run"; });
    add("further failovers",
        [](const run_result& each) { return std::to_string(each.outcome.further_failovers()); });
    rows.push_back({"Promised: 0", {}});
    add_counts(promised_rows);
    rows.push_back({"Allowed when a clock is set forward", {}});
    add_counts(clock_rows);
    rows.push_back({"Allowed in a failover", {}});
    for (const auto& row : allowed_rows)
        add(row.label, [&](const run_result& each) {
            return std::to_string(each.outcome.allowed(row.count));
        });
    return rows;
}

}  // namespace

std::string text_table(const std::vector<run_result>& runs) {
    std::ostringstream text;
    constexpr int label_width = 52, cell_width = 13;
    for (const auto& row : rows_of(runs)) {
        const bool is_heading = row.cells.empty();
        if (is_heading) text << "\n";
        text << (is_heading ? "" : "  ") << std::left << std::setw(label_width) << row.label;
        for (const auto& cell : row.cells)
            text << std::right << std::setw(cell_width) << cell;
        text << "\n";
    }
    return text.str();
}

std::vector<std::string> remarks(const run_result& result) {
    std::vector<std::string> all;
    const auto of = "fencing " + std::string(to_string(result.mode));
    for (const auto& each : result.evidence)
        all.push_back(of + ", " + each + ".");
    for (const auto& [name, reason] : result.obstacles)
        all.push_back(of + ": the fault '" + name + "' was not run: " + reason + ".");
    for (const auto& [name, count] : result.faults)
        if (count == 0)
            all.push_back(of + ": the fault '" + name +
                          "' was not reached in the time of --for; use a longer one.");
    return all;
}

std::string html_section(const std::vector<run_result>& runs) {
    std::ostringstream text;
    text << "<table>\n";
    bool is_first = true;
    for (const auto& row : rows_of(runs)) {
        const char* tag = is_first ? "th" : "td";
        text << "<tr><th scope=\"row\">" << escape(row.label) << "</th>";
        for (const auto& cell : row.cells)
            text << "<" << tag << ">" << escape(cell) << "</" << tag << ">";
        text << "</tr>\n";
        is_first = false;
    }
    text << "</table>\n<ul>\n";
    for (const auto& each : runs)
        for (const auto& remark : remarks(each))
            text << "<li>" << escape(remark) << "</li>\n";
    text << "</ul>\n";
    for (const auto& each : runs)
        for (const auto& complaint : complaints(each))
            text << "<p class=\"complaint\">" << escape(complaint) << "</p>\n";
    return text.str();
}

std::string html_page(const std::string& sections) {
    return "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>Proof</title>\n"
           "<style>th, td {text-align: right; padding: 0 1em} "
           "th[scope] {text-align: left; font-weight: normal} .complaint {color: #b00}</style>\n" +
           sections;
}

std::vector<std::string> complaints(const run_result& result) {
    auto all = result.problems;
    const auto& outcome = result.outcome;
    const auto of = " (" + result.environment + ", fencing " + to_string(result.mode) + ").";
    if (outcome.holds == 0) all.push_back("There were no holds" + of);
    if (result.mode == fencing::on) {
        for (const auto& row : promised_rows)
            if (outcome.*row.count != 0)
                all.push_back("A promise is broken: " + std::to_string(outcome.*row.count) + " " +
                              row.label + of);
        all.insert(all.end(), outcome.details.begin(), outcome.details.end());
        return all;
    }
    if (damage_of(result.mode, outcome) == 0)
        all.push_back("There was no damage, so the other run proves little: use a longer --for" +
                      of);
    return all;
}

}  // namespace proofs
