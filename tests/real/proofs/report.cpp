// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "report.hpp"

#include <real/record/counts.hpp>

#include <functional>
#include <sstream>

namespace real::proofs {

namespace {

const char* heading_of(const run_result& result) {
    switch (result.mode) {
    case fencing::on: return "fencing";
    case fencing::off: return "fencing off";
    case fencing::naive: return result.naive->heading;
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
    add(runs.front().environment, [](const run_result& each) { return heading_of(each); });
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
    rows.push_back({loss_heading, {}});
    add_counts(loss_rows);
    rows.push_back({"Allowed in a failover", {}});
    for (const auto& row : allowed_rows)
        add(row.label, [&](const run_result& each) {
            return std::to_string(each.outcome.allowed(row.count));
        });
    return rows;
}

}  // namespace

std::string text_table(const std::vector<run_result>& runs) { return to_text(rows_of(runs)); }

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
    text << to_html(rows_of(runs)) << "<ul>\n";
    for (const auto& each : runs)
        for (const auto& remark : remarks(each))
            text << "<li>" << escape_html(remark) << "</li>\n";
    text << "</ul>\n";
    for (const auto& each : runs)
        for (const auto& complaint : complaints(each))
            text << "<p class=\"complaint\">" << escape_html(complaint) << "</p>\n";
    return text.str();
}

std::vector<std::string> complaints(const run_result& result) {
    auto all = result.problems;
    const auto& outcome = result.outcome;
    const auto of = " (" + result.environment + ", fencing " + to_string(result.mode) + ")";
    if (outcome.holds == 0) all.push_back("There were no holds" + of + ".");
    if (result.mode == fencing::on) {
        for (auto& each : broken_promises(outcome, of))
            all.push_back(std::move(each));
        all.insert(all.end(), outcome.details.begin(), outcome.details.end());
        return all;
    }
    if (damage_of(result.mode, *result.naive, outcome) == 0)
        all.push_back("There was no damage, so the other run proves little: use a longer --for" +
                      of + ".");
    return all;
}

}  // namespace real::proofs
