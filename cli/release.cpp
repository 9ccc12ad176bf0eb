#include "checks.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "lock_view.hpp"
#include "verbs.hpp"

#include <pawl/blocking.hpp>

#include <unistd.h>
#include <iostream>

namespace pawl::cli {

namespace {

bool confirmed(const lock_info& what) {
    const holder& by = *what.held_by;
    std::cerr << "'" << printable(what.name) << "' is held by " << who(by);
    if (!by.command.empty()) std::cerr << " (" << printable(by.command) << ")";
    if (!by.host.empty()) std::cerr << " for " << readable(ago(by.since));
    const auto others = what.others.size();
    if (others > 0) std::cerr << ", and by " << others << (others == 1 ? " other" : " others");
    std::cerr << ".\n"
              << (others > 0
                      ? "All are told, but what they are doing may go on. Take the lock from "
                        "all of them? [y/N] "
                      : "It is told, but what it is doing may go on. Take the lock away? "
                        "[y/N] ")
              << std::flush;
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
}

int answer(const release_options& options, bool released) {
    if (options.json) {
        json text;
        text.begin_object().field("name", options.name).field("released", released).end_object();
        std::cout << text.str() << '\n';
    } else if (released) {
        std::cout << "Released '" << printable(options.name) << "'.\n";
    } else {
        std::cout << "Nobody holds '" << printable(options.name) << "'.\n";
    }
    return static_cast<int>(released ? exit_code::ok : exit_code::no);
}

}  // namespace

int release(const release_options& options) {
    const bool can_ask = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
    if (!options.yes && !can_ask) {
        throw failure(exit_code::usage, "There is no terminal to ask on; say --yes to take '" +
                                            options.name + "' from its holder.");
    }
    check_name(options.name);
    const place where = find_place(options.on);
    blocking::client locks(where.where);
    if (!options.yes) {
        const lock_info found = locks.inspect(options.name);
        if (!found.held_by) return answer(options, false);
        if (!confirmed(found)) throw failure(exit_code::no, "Nothing was changed.");
    }
    return answer(options, locks.force_release(options.name));
}

}  // namespace pawl::cli
