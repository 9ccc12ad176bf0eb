// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "table.hpp"

#include <iomanip>
#include <sstream>

namespace real {

std::string to_text(const std::vector<table_row>& rows) {
    std::ostringstream text;
    constexpr int label_width = 52, cell_width = 17;
    for (const auto& row : rows) {
        const bool is_heading = row.cells.empty();
        if (is_heading) text << "\n";
        text << (is_heading ? "" : "  ") << std::left << std::setw(label_width) << row.label;
        for (const auto& cell : row.cells)
            text << std::right << std::setw(cell_width) << cell;
        text << "\n";
    }
    return text.str();
}

std::string to_html(const std::vector<table_row>& rows) {
    std::ostringstream text;
    text << "<table>\n";
    bool is_first = true;
    for (const auto& row : rows) {
        const char* tag = is_first ? "th" : "td";
        text << "<tr><th scope=\"row\">" << escape_html(row.label) << "</th>";
        for (const auto& cell : row.cells)
            text << "<" << tag << ">" << escape_html(cell) << "</" << tag << ">";
        text << "</tr>\n";
        is_first = false;
    }
    text << "</table>\n";
    return text.str();
}

std::string escape_html(const std::string& text) {
    std::string result;
    for (const char each : text)
        result += each == '<' ? "&lt;" : each == '&' ? "&amp;" : std::string(1, each);
    return result;
}

std::string html_page(const std::string& sections, const std::string& title) {
    return "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>" + title +
           "</title>\n"
           "<style>th, td {text-align: right; padding: 0 1em} "
           "th[scope] {text-align: left; font-weight: normal} .complaint {color: #b00}</style>\n" +
           sections;
}

}  // namespace real
