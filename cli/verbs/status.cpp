// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../ui/duration.hpp"
#include "../ui/failure.hpp"
#include "../ui/lock_view.hpp"
#include "checks.hpp"
#include "verbs.hpp"

#include <pawl/blocking.hpp>

#include <unistd.h>
#include <cstdio>
#include <iostream>

namespace pawl::cli {

namespace {

void print_line(const char* title, const std::string& text) {
    std::printf("  %-10s %s\n", title, text.c_str());
}

void show(const lock_info& lock, const holder& lock_holder) {
    if (lock_holder.host.empty()) {
        print_line("owner",
                   printable(lock_holder.owner) + "… (its layout or library stores nothing else)");
    } else {
        print_line("host", printable(lock_holder.host));
        if (lock_holder.pid != 0) print_line("pid", std::to_string(lock_holder.pid));
        print_line("command", printable(lock_holder.command));
        if (lock_holder.since != std::chrono::system_clock::time_point{})
            print_line("since", format_utc(lock_holder.since) + " (" +
                                    format_readable(time_since(lock_holder.since)) + " ago)");
    }
    if (lock_holder.mode == lock_mode::permits) print_line("permits", mode_text(lock, lock_holder));
    if (lock_holder.count > 1) print_line("entered", std::to_string(lock_holder.count) + " times");
    if (lock_holder.remaining == forever) {
        print_line("remaining", "no end is known: the holder set none, or it is a session");
    } else {
        print_line("remaining",
                   format_readable(lock_holder.remaining) + " of the lease, if it is not renewed");
    }
    print_line("token", token_text(lock_holder));
}

void show(const service_location& location) {
    print_line("service",
               printable(location.lock_service.describe() + " (from " + location.source + ")"));
}

void show(const lock_info& lock, const service_location& location) {
    const bool coloured = wants_colour(STDOUT_FILENO);
    const auto title = paint("'" + printable(lock.name) + "'", colour::bold, coloured);
    const auto holders = holders_of(lock);
    if (holders.empty()) {
        const auto state = is_held(lock) ? paint("held", colour::yellow, coloured)
                                         : paint("free", colour::green, coloured);
        std::printf("%s is %s\n", title.c_str(), state.c_str());
        if (lock.free_permits) print_line("permits", std::to_string(*lock.free_permits) + " free");
        if (lock.waiters > 0) print_line("waiters", std::to_string(lock.waiters));
        show(location);
        return;
    }
    std::printf("%s is %s%s\n", title.c_str(), paint("held", colour::yellow, coloured).c_str(),
                mode_summary(lock).c_str());
    for (const holder& each : holders) {
        show(lock, each);
        if (holders.size() > 1) std::printf("\n");
    }
    print_line("waiters", std::to_string(lock.waiters));
    show(location);
}

}  // namespace

int status(const status_options& options) {
    check_name(options.name);
    const service_location location = find_location(options.location);
    blocking::client locks(location.lock_service);
    const lock_info lock = locks.inspect(options.name);
    if (options.json) {
        json text;
        write(text, lock,
              {{"service", location.lock_service.describe()}, {"source", location.source}});
        std::cout << text.str() << '\n';
    } else {
        show(lock, location);
    }
    return static_cast<int>(is_held(lock) ? exit_code::ok : exit_code::no);
}

}  // namespace pawl::cli
