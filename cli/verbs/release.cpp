// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../ui/duration.hpp"
#include "../ui/failure.hpp"
#include "../ui/lock_view.hpp"
#include "checks.hpp"
#include "verbs.hpp"

#include <pawl/blocking.hpp>

#include <unistd.h>
#include <iostream>

namespace pawl::cli {

namespace {

bool ask_confirmation(const lock_info& lock) {
    const holder& lock_holder = *lock.held_by;
    std::cerr << "'" << printable(lock.name) << "' is held by " << holder_text(lock_holder);
    if (!lock_holder.command.empty()) std::cerr << " (" << printable(lock_holder.command) << ")";
    if (!lock_holder.host.empty())
        std::cerr << " for " << format_readable(time_since(lock_holder.since));
    const auto others = lock.others.size();
    if (others > 0) std::cerr << ", and by " << others << (others == 1 ? " other" : " others");
    std::cerr
        << ".\n"
        << (others > 0
                ? "All holders are notified, but their work may continue. Take the lock from all "
                  "of them? [y/N] "
                : "The holder is notified, but its work may continue. Take the lock away? [y/N] ")
        << std::flush;
    std::string reply;
    std::getline(std::cin, reply);
    return reply == "y" || reply == "Y" || reply == "yes";
}

int print_result(const release_options& options, bool released) {
    if (options.json) {
        json text;
        text.begin_object().field("name", options.name).field("released", released).end_object();
        std::cout << text.str() << '\n';
    } else if (released) {
        std::cout << "Released '" << printable(options.name) << "'.\n";
    } else {
        std::cout << "No process holds '" << printable(options.name) << "'.\n";
    }
    return static_cast<int>(released ? exit_code::ok : exit_code::no);
}

}  // namespace

int release(const release_options& options) {
    const bool can_ask = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
    if (!options.yes && !can_ask) {
        throw failure(exit_code::usage,
                      "There is no terminal for the confirmation; add --yes to take '" +
                          options.name + "' from its holder.");
    }
    check_name(options.name);
    const service_location location = find_location(options.location);
    blocking::client locks(location.lock_service);
    if (!options.yes) {
        const lock_info lock = locks.inspect(options.name);
        if (!lock.held_by) return print_result(options, false);
        if (!ask_confirmation(lock)) throw failure(exit_code::no, "Nothing was changed.");
    }
    return print_result(options, locks.force_release(options.name));
}

}  // namespace pawl::cli
