// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "report.hpp"

#include <real/table.hpp>

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace real::orders {

namespace {

constexpr const char* in_vain =
    "For each order: polls are looks that found a pending operation, refused are claims.";

// A column of the table of layers: some rules of the auditor.
struct column {
    const char* title;
    std::vector<const char*> rules;
};

const std::vector<column>& columns() {
    static const std::vector<column> all{
        {"twice here", {"orders made twice", "items that stock and orders miss"}},
        {"twice outside", {"effects twice outside"}},
        {"out of order", {"tokens fell at the outside", "outside and ledger differ"}},
        {"unfinished", {"operations never ended", "orders half done", "orders without an effect"}},
        {"told wrong", {"told, and lost or told differently", "told that it failed"}}};
    return all;
}

std::size_t count_of(const run_result& result, const column& shown) {
    std::size_t most = 0;  // one order may break two rules
    for (const auto* rule : shown.rules)
        most = std::max(most, orders::count_of(result, rule));
    return most;
}

table_row row_of(const std::string& label, const run_result& result) {
    table_row row{label, {std::to_string(result.options.orders)}};
    for (const auto& each : columns())
        row.cells.push_back(std::to_string(count_of(result, each)));
    for (const auto count : {result.vain.polls, result.vain.refused}) {
        std::ostringstream ratio;
        ratio << std::fixed << std::setprecision(2)
              << static_cast<double>(count) / static_cast<double>(result.options.orders);
        row.cells.push_back(ratio.str());
    }
    return row;
}

std::vector<table_row> damage_rows(const report& result) {
    table_row titles{"layers, program", {"orders"}};
    for (const auto& each : columns())
        titles.cells.emplace_back(each.title);
    titles.cells.emplace_back("polls");
    titles.cells.emplace_back("refused");
    std::vector<table_row> rows{titles};
    for (const auto& each : result.all_layers)
        rows.push_back(row_of(title_of(each.options), each));
    for (const auto& each : result.parts)
        rows.push_back(row_of(title_of(each.result.options), each.result));
    return rows;
}

std::vector<const run_result*> results_of(const report& result) {
    std::vector<const run_result*> all;
    for (const auto& each : result.all_layers)
        all.push_back(&each);
    if (all.empty())
        for (const auto& each : result.parts)
            all.push_back(&each.result);
    return all;
}

// How many orders each fault has met: with all layers, if they were run.
std::vector<table_row> fault_rows(const report& result) {
    const auto all = results_of(result);
    table_row titles{"faults", {}};
    for (const auto each : every_story)
        titles.cells.emplace_back(to_string(each));
    std::vector<table_row> rows{titles};
    const auto add = [&](const std::string& label, const auto& count) {
        rows.push_back({label, {}});
        for (const auto story : every_story) {
            std::size_t sum = 0;
            for (const auto* each : all)
                if (each->options.story == story) sum += count(*each);
            rows.back().cells.push_back(std::to_string(sum));
        }
    };
    for (std::size_t i = 0; i < fault_cases.size(); ++i)
        add(fault_cases.at(i).name, [i](const run_result& each) { return each.hits.at(i); });
    std::map<std::string, std::size_t> names;
    for (const auto* each : all)
        names.insert(each->nemeses.begin(), each->nemeses.end());
    for (const auto& [name, times] : names)
        add(name, [&](const run_result& each) {
            const auto entry = each.nemeses.find(name);
            return entry == each.nemeses.end() ? std::size_t{0} : entry->second;
        });
    return rows;
}

// Narrower than real::to_text, since there are many columns.
std::string text_of_rows(const std::vector<table_row>& rows) {
    std::size_t label_width = 0;
    for (const auto& row : rows)
        label_width = std::max(label_width, row.label.size());
    std::ostringstream text;
    for (const auto& row : rows) {
        text << std::left << std::setw(static_cast<int>(label_width)) << row.label;
        for (std::size_t i = 0; i < row.cells.size(); ++i)
            text << "  " << std::right
                 << std::setw(static_cast<int>(rows.front().cells.at(i).size())) << row.cells[i];
        text << "\n";
    }
    return text.str();
}

struct bar {
    std::string label;
    std::string rule;
    std::size_t count = 0, orders = 1;
};

std::vector<bar> bars_of(const report& result) {
    std::vector<bar> all;
    for (const auto& [shown, run] : result.parts) {
        if (shown == nullptr || shown->rule == nullptr) continue;
        all.push_back({title_of(run.options), shown->rule, orders::count_of(run, shown->rule),
                       run.options.orders});
    }
    return all;
}

std::string text_of_bars(const std::vector<bar>& all) {
    std::size_t label_width = 0;
    for (const auto& each : all)
        label_width = std::max(label_width, each.label.size());
    std::ostringstream text;
    constexpr std::size_t width = 30;
    for (const auto& each : all) {
        const auto filled = std::min(width, (each.count * width + each.orders - 1) / each.orders);
        text << std::left << std::setw(static_cast<int>(label_width)) << each.label << "  "
             << std::string(filled, '#') << std::string(width - filled, '.') << " " << each.count
             << " of " << each.orders << ": " << each.rule << "\n";
    }
    return text.str();
}

std::string drawing_of_bars(const std::vector<bar>& all) {
    constexpr std::size_t height = 26, left = 420, width = 400;
    std::ostringstream text;
    text << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1150 " << all.size() * height
         << "\" font-family=\"sans-serif\" font-size=\"13\">\n";
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto y = i * height;
        const auto filled =
            std::min(width, (all[i].count * width + all[i].orders - 1) / all[i].orders);
        text << "<text x=\"" << left - 10 << "\" y=\"" << y + 16 << "\" text-anchor=\"end\">"
             << escape_html(all[i].label) << "</text><rect x=\"" << left << "\" y=\"" << y + 4
             << "\" width=\"" << filled << "\" height=\"16\" fill=\"#b00\"/><text x=\""
             << left + filled + 8 << "\" y=\"" << y + 16 << "\">" << all[i].count << " "
             << escape_html(all[i].rule) << "</text>\n";
    }
    text << "</svg>\n";
    return text.str();
}

std::vector<std::string> reasons_of(const report& result) {
    std::vector<std::string> all;
    for (const auto& each : result.parts)
        if (each.shown != nullptr)
            all.push_back(std::string(each.shown->layer) + ": " + each.shown->reason);
    return all;
}

std::string verdict_of(const report& result) {
    if (!result.complaints.empty()) return "The experiment failed.";
    if (result.all_layers.empty()) return "The damage is as expected.";
    return result.parts.empty() ? "With all layers nothing is wrong."
                                : "With all layers nothing is wrong, and without them the damage "
                                  "is as expected.";
}

}  // namespace

std::string title_of(const run_options& options) {
    std::string layers = options.without.empty() ? "all layers" : "without " + options.without;
    if (!options.is_synchronous) layers = "without replication";
    if (options.without.find("lock,record,look") == 0) layers = "without any layer";
    return layers + ", " + to_string(options.story);
}

std::string rules_text(const run_result& result) {
    std::ostringstream text;
    for (const auto& each : result.rules) {
        text << "  " << std::left << std::setw(36) << each.name << std::right << std::setw(7)
             << each.count;
        if (!each.examples.empty()) text << "  " << each.examples;
        text << "\n";
    }
    return text.str();
}

std::string text_of(const report& result) {
    std::ostringstream text;
    text << "\n" << text_of_rows(fault_rows(result)) << "\n" << text_of_rows(damage_rows(result));
    text << in_vain << "\n";
    if (const auto bars = bars_of(result); !bars.empty()) text << "\n" << text_of_bars(bars);
    for (const auto& each : reasons_of(result))
        text << each << "\n";
    text << "\n";
    for (const auto& each : result.complaints)
        text << each << "\n";
    text << verdict_of(result) << "\n"
         << "The faults can be repeated with --seed " << result.seed << ".\n";
    return text.str();
}

std::string page_of(const report& result) {
    std::ostringstream text;
    text << "<h1>Orders</h1>\n";
    text << "<p>" << escape_html(verdict_of(result)) << "</p>\n";
    for (const auto& each : result.complaints)
        text << "<p class=\"complaint\">" << escape_html(each) << "</p>\n";
    text << "<h2>Layers and damage</h2>\n" << to_html(damage_rows(result));
    text << "<p>" << in_vain << "</p>\n" << drawing_of_bars(bars_of(result)) << "<ul>\n";
    for (const auto& each : reasons_of(result))
        text << "<li>" << escape_html(each) << "</li>\n";
    text << "</ul>\n<h2>Orders that each fault has met</h2>\n" << to_html(fault_rows(result));
    text << "<p>The faults can be repeated with --seed " << result.seed << ".</p>\n";
    return html_page(text.str(), "Orders");
}

}  // namespace real::orders
