// Text for a terminal: safe, coloured where wanted, aligned.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::cli {

// Without control characters and others that are not seen as they are, so that text from a server
// can neither break or turn a line nor steer the terminal. Bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string printable(std::string_view text);

// Columns that the text takes, by code points.
[[nodiscard]] std::size_t width_of(std::string_view text);
// At most `width` columns, with … at the end where it was longer.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

enum class colour { none, bold, dim, red, green, yellow, blue };

// True for a terminal, unless NO_COLOR is set or TERM says that it is dumb.
[[nodiscard]] bool wants_colour(int descriptor);
[[nodiscard]] std::string paint(std::string_view text, colour how, bool wanted);

// Columns of the terminal; 0 where there is none.
[[nodiscard]] std::size_t terminal_width(int descriptor);
[[nodiscard]] std::size_t terminal_height(int descriptor);

struct cell {
    std::string text;
    colour how = colour::none;
};

// Lines of cells under each other, two spaces between them.
class table {
public:
    enum class align { left, right };
    struct column {
        std::string title;
        align side = align::left;
        bool flexible = false;  // shortened first where the terminal is too narrow
    };

    explicit table(std::vector<column> columns) : columns_(std::move(columns)) {}
    void add(std::vector<cell> row) { rows_.push_back(std::move(row)); }

    // `width` 0: as wide as it takes. No line break after the last line.
    [[nodiscard]] std::vector<std::string> lines(std::size_t width, bool coloured) const;
    [[nodiscard]] std::string text(std::size_t width, bool coloured) const;

private:
    [[nodiscard]] std::vector<std::size_t> widths(std::size_t width) const;

    std::vector<column> columns_;
    std::vector<std::vector<cell>> rows_;
};

}  // namespace pawl::cli
