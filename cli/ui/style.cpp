// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "style.hpp"

#include "utf8.hpp"

#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>

namespace pawl::cli {

namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t narrowest = 6;

bool is_continuation_byte(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

winsize size_of(int descriptor) {
    winsize size{};
    if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0) return {};
    return size;
}

std::string line_of(const std::vector<cell>& row, const std::vector<table::column>& columns,
                    const std::vector<std::size_t>& widths, bool coloured) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string text = shortened(row[i].text, widths[i]);
        const std::string fill(widths[i] - width_of(text), ' ');
        const bool right = columns[i].side == table::align::right;
        const bool last = i + 1 == row.size();
        if (right) line += fill;
        line += paint(text, row[i].text_colour, coloured);
        if (!right && !last) line += fill;
        if (!last) line.append(gap, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string safe;
    safe.reserve(text.size());
    while (!text.empty()) {
        const auto [value, bytes] = first_code_point(text);
        if (bytes == 0) {
            safe += "\xEF\xBF\xBD";
        } else if (is_deceptive(value)) {
            safe += '?';
        } else {
            safe += text.substr(0, bytes);
        }
        text.remove_prefix(std::max<std::size_t>(bytes, 1));
    }
    return safe;
}

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation_byte(c); }));
}

std::string shortened(std::string_view text, std::size_t width) {
    if (width_of(text) <= width) return std::string(text);
    std::size_t columns = 0;
    std::size_t end = 0;
    while (end < text.size() && (is_continuation_byte(text[end]) || columns + 1 < width)) {
        if (!is_continuation_byte(text[end])) ++columns;
        ++end;
    }
    return std::string(text.substr(0, end)).append(width == 0 ? "" : "…");
}

bool wants_colour(int descriptor) {
    const char* refused = std::getenv("NO_COLOR");
    if (refused != nullptr && *refused != '\0') return false;
    const char* kind = std::getenv("TERM");
    if (kind == nullptr || std::string_view(kind) == "dumb") return false;
    return ::isatty(descriptor) == 1;
}

std::string paint(std::string_view text, colour text_colour, bool wanted) {
    if (!wanted || text_colour == colour::none || text.empty()) return std::string(text);
    static constexpr const char* codes[] = {"0", "1", "2", "31", "32", "33", "34"};
    return std::string("\x1b[")
        .append(codes[static_cast<std::size_t>(text_colour)])
        .append("m")
        .append(text)
        .append("\x1b[0m");
}

std::size_t terminal_width(int descriptor) { return size_of(descriptor).ws_col; }

std::size_t terminal_height(int descriptor) {
    const std::size_t height = size_of(descriptor).ws_row;
    return height == 0 ? 24 : height;
}

std::vector<std::size_t> table::widths(std::size_t width) const {
    std::vector<std::size_t> result;
    std::size_t total = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        std::size_t widest = width_of(columns_[i].title);
        for (const auto& row : rows_)
            widest = std::max(widest, width_of(row[i].text));
        result.push_back(widest);
        total += widest + (i == 0 ? 0 : gap);
    }
    if (width == 0 || total <= width) return result;

    std::size_t excess = total - width;
    while (excess > 0) {
        std::size_t* widest = nullptr;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (!columns_[i].flexible || result[i] <= narrowest) continue;
            if (widest == nullptr || result[i] > *widest) widest = &result[i];
        }
        if (widest == nullptr) break;
        --*widest;
        --excess;
    }
    return result;
}

std::vector<std::string> table::lines(std::size_t width, bool coloured) const {
    const auto wide = widths(width);
    std::vector<cell> titles;
    titles.reserve(columns_.size());
    for (const column& each : columns_)
        titles.push_back({each.title, colour::dim});
    std::vector<std::string> result;
    result.push_back(line_of(titles, columns_, wide, coloured));
    for (const auto& row : rows_)
        result.push_back(line_of(row, columns_, wide, coloured));
    return result;
}

std::string table::text(std::size_t width, bool coloured) const {
    std::string all;
    for (const std::string& line : lines(width, coloured))
        all.append(line).append("\n");
    return all;
}

}  // namespace pawl::cli
