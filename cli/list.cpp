#include "failure.hpp"
#include "lock_view.hpp"
#include "verbs.hpp"

#include <pawl/blocking.hpp>

#include <unistd.h>
#include <algorithm>
#include <iostream>

namespace pawl::cli {

int list(const list_options& options) {
    const place where = find_place(options.on);
    blocking::client locks(where.where);
    auto found = locks.list(options.prefix);
    std::sort(found.begin(), found.end(),
              [](const lock_info& a, const lock_info& b) { return a.name < b.name; });

    if (options.json) {
        json text;
        text.begin_array();
        for (const lock_info& each : found)
            write(text, each);
        std::cout << text.end_array().str() << '\n';
    } else if (options.names_only) {
        for (const lock_info& each : found)
            std::cout << printable(each.name) << '\n';
    } else if (!found.empty()) {
        std::cout << lock_table(found).text(terminal_width(STDOUT_FILENO),
                                            wants_colour(STDOUT_FILENO));
    } else if (::isatty(STDOUT_FILENO) == 1) {
        std::cout << "No locks at " << printable(where.where.describe()) << ".\n";
    }
    return static_cast<int>(exit_code::ok);
}

}  // namespace pawl::cli
