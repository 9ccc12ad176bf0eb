// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Text for a terminal: safe, coloured if possible, aligned.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::cli {

// Replaces control characters and invisible characters, so that text from a server can
// neither break or reverse a line, nor control the terminal. Bytes that are not UTF-8 become
// U+FFFD.
[[nodiscard]] std::string printable(std::string_view text);

// The number of columns, by code points.
[[nodiscard]] std::size_t width_of(std::string_view text);
// At most `width` columns, with … at the end if the text was longer.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

enum class colour { none, bold, dim, red, green, yellow, blue };

// True for a terminal, unless NO_COLOR is set or TERM is "dumb".
[[nodiscard]] bool wants_colour(int descriptor);
[[nodiscard]] std::string paint(std::string_view text, colour text_colour, bool wanted);

// The columns of the terminal, or 0 without one.
[[nodiscard]] std::size_t terminal_width(int descriptor);
// The rows of the terminal; 24 if it reports none, as a serial console does.
[[nodiscard]] std::size_t terminal_height(int descriptor);

struct cell {
    std::string text;
    colour text_colour = colour::none;
};

// Rows of cells in aligned columns, with two spaces between them.
class table {
public:
    enum class align { left, right };
    struct column {
        std::string title;
        align side = align::left;
        bool flexible = false;  // may be shortened if the terminal is too narrow
    };

    explicit table(std::vector<column> columns) : columns_(std::move(columns)) {}
    void add(std::vector<cell> row) { rows_.push_back(std::move(row)); }

    // `width` 0 means without a limit. In `text`, each line ends with a line break.
    [[nodiscard]] std::vector<std::string> lines(std::size_t width, bool coloured) const;
    [[nodiscard]] std::string text(std::size_t width, bool coloured) const;

private:
    [[nodiscard]] std::vector<std::size_t> widths(std::size_t width) const;

    std::vector<column> columns_;
    std::vector<std::vector<cell>> rows_;
};

}  // namespace pawl::cli
