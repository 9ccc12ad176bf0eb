// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "report.hpp"

#include "drawing.hpp"

#include <real/record/counts.hpp>
#include <real/table.hpp>

#include <algorithm>
#include <functional>
#include <set>
#include <sstream>

namespace real::soak {

namespace {

class table {
public:
    explicit table(const std::vector<totals>& all) : all_(all) {}

    std::vector<table_row> rows() {
        add("", [](const totals& each) { return each.environment; });
        add("time", [](const totals& each) { return to_text(each.time); });
        add_number("rounds", [](const totals& each) { return each.rounds; });
        add_verdicts(load_rows);
        add_number("losses reported", [](const totals& each) { return each.load.losses; });
        add_number("acquires that failed", [](const totals& each) { return each.load.errors; });
        add_number("clients killed", [](const totals& each) { return each.kills; });
        add_number("clients paused", [](const totals& each) { return each.pauses; });
        add_faults();
        rows_.push_back({"Promised: 0", {}});
        add_verdicts(promised_rows);
        add_number("failed rounds", [](const totals& each) { return each.failed_rounds; });
        rows_.push_back({loss_heading, {}});
        add_verdicts(loss_rows);
        rows_.push_back({"Allowed in a failover", {}});
        for (std::size_t i = 0; i < allowed_rows.size(); ++i)
            add_number(allowed_rows[i].label, [i](const totals& each) { return each.allowed[i]; });
        rows_.push_back({"Clients that are never killed, first to last round", {}});
        add_memory();
        return std::move(rows_);
    }

private:
    using cell = std::function<std::string(const totals&)>;

    void add(const std::string& label, const cell& text) {
        rows_.push_back({label, {}});
        for (const auto& each : all_)
            rows_.back().cells.push_back(text(each));
    }

    void add_number(const std::string& label,
                    const std::function<std::size_t(const totals&)>& number) {
        add(label, [&](const totals& each) { return std::to_string(number(each)); });
    }

    template <class Counts>
    void add_verdicts(const Counts& counts) {
        for (const auto& row : counts)
            add_number(row.label, [&](const totals& each) { return each.outcome.*row.count; });
    }

    void add_faults() {
        std::set<std::string> names;
        for (const auto& each : all_)
            for (const auto& [name, times] : each.faults)
                names.insert(name);
        rows_.push_back({"Faults", {}});
        for (const auto& name : names)
            add(name, [&](const totals& each) {
                const auto count = each.faults.find(name);
                return count == each.faults.end() ? "-" : std::to_string(count->second);
            });
        add_number("failovers", [](const totals& each) { return each.failovers; });
    }

    void add_memory() {
        std::size_t most = 0;
        for (const auto& each : all_)
            most = std::max(most, each.figures.size());
        for (std::size_t i = 0; i < most; ++i) {
            add_growth("memory of client " + std::to_string(i) + " in MiB", i,
                       [](const process_figures& each) { return mebibytes(each.resident_bytes); });
            add_growth(
                "descriptors of client " + std::to_string(i), i,
                [](const process_figures& each) { return std::to_string(each.descriptors); });
        }
    }

    void add_growth(const std::string& label, std::size_t client,
                    std::string (*text)(const process_figures&)) {
        add(label, [&](const totals& each) {
            if (client >= each.figures.size() || each.figures[client].empty())
                return std::string("-");
            return text(each.figures[client].front()) + "-" + text(each.figures[client].back());
        });
    }

    const std::vector<totals>& all_;
    std::vector<table_row> rows_;
};

std::vector<std::string> failures_of(const report& result) {
    std::vector<std::string> all;
    for (const auto& each : result.all)
        for (const auto& failure : each.failures)
            all.push_back(each.environment + ": " + failure);
    if (exit_status(result.all) == 0)
        all.push_back("Every promise was kept.");
    else if (all.empty())
        all.push_back("No round was checked.");
    return all;
}

}  // namespace

std::vector<std::string> remarks(const report& result) {
    auto all = result.notes;
    for (const auto& each : result.all) {
        for (const auto& [name, reason] : each.obstacles)
            all.push_back(each.environment + ": the fault '" + name + "' was not run: " + reason +
                          ".");
        if (each.rounds < rounds_for_leaks)
            all.push_back(each.environment + ": with fewer than " +
                          std::to_string(rounds_for_leaks) +
                          " rounds, growing clients are not noticed; use a longer --for or a "
                          "shorter --round.");
    }
    all.push_back("The faults can be repeated in the same order with --seed " +
                  std::to_string(result.seed) + ".");
    return all;
}

std::string text_of(const report& result) {
    std::ostringstream text;
    if (!result.all.empty()) text << "\n" << to_text(table(result.all).rows()) << "\n";
    for (const auto& each : remarks(result))
        text << each << "\n";
    for (const auto& each : failures_of(result))
        text << each << "\n";
    return text.str();
}

std::string page_of(const report& result, const std::vector<sample>& samples,
                    const std::vector<fault_mark>& faults) {
    std::ostringstream text;
    text << "<h1>Soak</h1>\n";
    const auto* kind = exit_status(result.all) == 0 ? "" : " class=\"complaint\"";
    for (const auto& each : failures_of(result))
        text << "<p" << kind << ">" << escape_html(each) << "</p>\n";
    text << draw(samples, faults)
         << "<p>The short red strokes are faults; each has its name as a tooltip.</p>\n";
    if (!result.all.empty()) text << to_html(table(result.all).rows());
    text << "<ul>\n";
    for (const auto& each : remarks(result))
        text << "<li>" << escape_html(each) << "</li>\n";
    text << "</ul>\n";
    return html_page(text.str(), "Soak");
}

}  // namespace real::soak
