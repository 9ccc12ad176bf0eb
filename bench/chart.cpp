// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "report.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace bench {

namespace {

constexpr int width = 960;
constexpr int left = 28;
constexpr int bar_left = 400;
constexpr int bar_width = 300;
constexpr int top = 92;
constexpr int row_height = 44;

constexpr std::string_view style = R"css(
  <style>
    .card { fill: #fbfbfa; stroke: #d9d9d4 } .ink { fill: #20242a } .soft { fill: #666d76 }
    .baseline { fill: #b9bec6 } .good { fill: #1f8a70 } .bad { fill: #d1672b }
    .plain { fill: #4a7fb5 }
    .tick { stroke: #20242a } .rule { stroke: #e4e4df }
    text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
    text { font-size: 13px }
    .title { font-size: 20px; font-weight: 600 } .small { font-size: 11.5px }
    .right { text-anchor: end }
    .strong { font-weight: 600 }
    @media (prefers-color-scheme: dark) {
      .card { fill: #16191d; stroke: #31363d } .ink { fill: #e8eaed } .soft { fill: #9aa2ad }
      .baseline { fill: #59616c } .good { fill: #35b896 } .bad { fill: #ec8a4f }
      .plain { fill: #6aa3de }
      .tick { stroke: #e8eaed } .rule { stroke: #262b31 }
    }
  </style>
)css";

std::string escape_xml(std::string_view text) {
    std::string result;
    for (const char c : text) {
        result += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
    }
    return result;
}

std::string draw_text(double x, double y, std::string_view classes, std::string_view label) {
    return "  <text x=\"" + format_number(x) + "\" y=\"" + format_number(y) + "\" class=\"" +
           std::string(classes) + "\">" + escape_xml(label) + "</text>\n";
}

std::string draw_bar(double y, double height, double length, std::string_view kind) {
    return "  <rect x=\"" + std::to_string(bar_left) + "\" y=\"" + format_number(y) +
           "\" width=\"" + format_number(std::max(length, 1.5)) + "\" height=\"" +
           format_number(height) + "\" rx=\"2\" class=\"" + std::string(kind) + "\"/>\n";
}

std::string draw_tick(double x, double y) {
    return "  <line x1=\"" + format_number(x) + "\" x2=\"" + format_number(x) + "\" y1=\"" +
           format_number(y - 3) + "\" y2=\"" + format_number(y + 25) +
           "\" class=\"tick\" stroke-dasharray=\"2 2\"/>\n";
}

// The position of the target, in the unit of the row.
double target_value(const row& line) {
    const std::string digits = line.target.substr(line.target.find(' ') + 1);
    const double value = std::stod(digits);
    return line.ratio && line.baseline ? value * *line.baseline : value;
}

std::string draw(const row& line, double y) {
    const bool has_target = !line.target.empty();
    const double target = has_target ? target_value(line) : 0;
    const double most = std::max({line.measured, line.baseline.value_or(0), target, 1e-9}) * 1.05;
    const auto length = [&](double value) { return bar_width * value / most; };
    const char* kind = !line.met ? "plain" : *line.met ? "good" : "bad";

    std::string out = draw_text(left, y + 10, "ink", line.label);
    if (!line.baseline_name.empty()) {
        out += draw_text(left, y + 25, "soft small", "baseline: " + line.baseline_name);
    }
    if (has_target || line.baseline) {
        out += draw_bar(y, line.baseline ? 13 : 22, length(line.measured), kind);
    }
    if (line.baseline) {
        out += draw_bar(y + 15, 7, length(*line.baseline), "baseline");
    }
    if (has_target) {
        out += draw_tick(bar_left + length(target), y);
    }
    std::string right = format_number(line.measured) + ' ' + line.unit;
    if (line.ratio) {
        right += "  ·  " + format_number(*line.ratio) + " ×";
    }
    out += draw_text(width - left, y + 10, "ink right strong", right);
    if (has_target) {
        const std::string verdict = *line.met ? "met" : "not met";
        out += draw_text(width - left, y + 25, "soft right small",
                         "target " + line.target + (line.ratio ? " ×, " : ", ") + verdict);
    }
    out += "  <line x1=\"" + std::to_string(left) + "\" x2=\"" + std::to_string(width - left) +
           "\" y1=\"" + format_number(y + 32) + "\" y2=\"" + format_number(y + 32) +
           "\" class=\"rule\"/>\n";
    return out;
}

std::string draw_legend(double y) {
    std::string out;
    const auto entry = [&](double x, std::string_view kind, std::string_view label) {
        out += "  <rect x=\"" + format_number(x) + "\" y=\"" + format_number(y - 10) +
               "\" width=\"12\" height=\"12\" rx=\"2\" class=\"" + std::string(kind) + "\"/>\n" +
               draw_text(x + 18, y, "soft small", label);
    };
    entry(left, "good", "Pawl, target met");
    entry(left + 140, "bad", "Pawl, target not met");
    entry(left + 300, "baseline", "the baseline, measured in the same run");
    return out + draw_text(left + 540, y, "soft small", "┊ the target");
}

}  // namespace

void write_chart(const std::string& path, const machine_info& machine,
                 const std::vector<row>& rows) {
    const int height = top + static_cast<int>(rows.size()) * row_height + 44;
    std::string about;
    for (const auto& [name, value] : machine) {
        if (name == "processor" || name == "server" || name == "date")
            about += (about.empty() ? "" : " · ") + value;
        if (name == "cores") about += " · " + value + " cores";
        // A busy machine gives worse numbers, so the chart shows the load.
        if (name == "load before") about += ", load " + value + " before the run";
    }
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " +
                      std::to_string(width) + ' ' + std::to_string(height) +
                      "\" role=\"img\" aria-label=\"Pawl and its baselines\">";
    out += style;
    out += "  <rect x=\"0.5\" y=\"0.5\" width=\"" + std::to_string(width - 1) + "\" height=\"" +
           std::to_string(height - 1) + "\" rx=\"10\" class=\"card\"/>\n";
    out += draw_text(left, 42, "ink title", "Pawl and its baselines") +
           draw_text(left, 64, "soft small", about);
    double y = top;
    for (const row& each : rows) {
        out += draw(each, y);
        y += row_height;
    }
    out += draw_legend(y + 16) + "</svg>\n";
    std::ofstream file(path);
    file << out;
    if (!file.flush()) {
        throw std::runtime_error("cannot write " + path);
    }
}

}  // namespace bench
