// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../ui/duration.hpp"
#include "../ui/failure.hpp"
#include "../ui/lock_view.hpp"
#include "checks.hpp"
#include "verbs.hpp"

#include <pawl/blocking.hpp>

#include <unistd.h>
#include <algorithm>
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

int print_result(const release_options& options, bool released, bool is_held = false) {
    if (options.json) {
        json text;
        text.begin_object().field("name", options.name).field("released", released);
        text.field("held", is_held).end_object();
        std::cout << text.str() << '\n';
    } else if (released) {
        std::cout << "Released '" << printable(options.name) << "'.\n";
    } else if (!is_held) {
        std::cout << "No process holds '" << printable(options.name) << "'.\n";
    }
    return static_cast<int>(released ? exit_code::ok : exit_code::no);
}

bool is_of(const lock_info& lock, fencing_token token) {
    const auto holders = holders_of(lock);
    return std::ranges::any_of(holders, [&](const auto& each) { return each.token == token; });
}

// Nothing was released, because the holder is not the expected one.
int report_other_holder(const release_options& options, const lock_info& lock) {
    say("Nothing was released: '" + printable(options.name) + "' is now held by " +
        holder_text(*lock.held_by) + ", token " + token_text(*lock.held_by) +
        "; look with `pawl status '" + printable(options.name) +
        "'`, and release it again if you mean this holder.");
    if (options.json) return print_result(options, false, true);
    return static_cast<int>(exit_code::no);
}

// Asks about the present holder. Returns the token of the holder that was shown.
fencing_token confirm(blocking::client& locks, const release_options& options,
                      const lock_info& lock) {
    if (options.token && !is_of(lock, *options.token)) return *options.token;
    if (!ask_confirmation(lock)) throw failure(exit_code::no, "Nothing was changed.");
    const auto shown = lock.held_by->token;
    // A hold without a token of its own can only be told by its owner, before the release.
    const lock_info present = locks.inspect(options.name);
    const bool is_other = present.held_by && present.held_by->owner != lock.held_by->owner &&
                          (!shown || present.held_by->token == shown);
    if (is_other)
        throw failure(exit_code::no, "Nothing was released: the holder of '" +
                                         printable(options.name) +
                                         "' changed while you were asked; try again.");
    if (options.token) return *options.token;
    // The holders that were shown have this token or smaller ones, and later holders a larger one.
    const auto holders = holders_of(lock);
    return std::ranges::max(holders, {}, &holder::token).token;
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
    auto expected = options.token.value_or(fencing_token());
    if (!options.yes) {
        const lock_info lock = locks.inspect(options.name);
        if (!lock.held_by) return print_result(options, false);
        expected = confirm(locks, options, lock);
    }
    const bool released = locks.force_release(options.name, expected);
    if (released || !expected) return print_result(options, released);
    const lock_info lock = locks.inspect(options.name);
    return lock.held_by ? report_other_holder(options, lock) : print_result(options, false);
}

}  // namespace pawl::cli
