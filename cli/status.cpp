#include "checks.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "lock_view.hpp"
#include "verbs.hpp"

#include <pawl/blocking.hpp>

#include <unistd.h>
#include <cstdio>
#include <iostream>

namespace pawl::cli {

namespace {

void line(const char* title, const std::string& text) {
    std::printf("  %-10s %s\n", title, text.c_str());
}

void show(const lock_info& what, const holder& by) {
    if (by.host.empty()) {
        line("owner", printable(by.owner) + "… (its layout, or its library, says no more)");
    } else {
        line("host", printable(by.host));
        line("pid", std::to_string(by.pid));
        line("command", printable(by.command));
        line("since", utc(by.since) + " (" + readable(ago(by.since)) + " ago)");
    }
    if (by.mode == lock_mode::permits) line("permits", mode_text(what, by));
    if (by.count > 1) line("entered", std::to_string(by.count) + " times");
    if (by.remaining == forever) {
        line("remaining", "forever: whoever took it set no time to live");
    } else {
        line("remaining", readable(by.remaining) + " of the lease, if it is not renewed");
    }
    line("token", token_text(by));
}

void show(const place& where) {
    line("service", printable(where.where.describe() + " (from " + where.source + ")"));
}

void show(const lock_info& what, const place& where) {
    const bool coloured = wants_colour(STDOUT_FILENO);
    const auto title = paint(printable(what.name), colour::bold, coloured);
    const auto all = holders_of(what);
    if (all.empty()) {
        const auto state = is_held(what) ? paint("held", colour::yellow, coloured)
                                         : paint("free", colour::green, coloured);
        std::printf("%s is %s\n", title.c_str(), state.c_str());
        if (what.free_permits) line("permits", std::to_string(*what.free_permits) + " free");
        if (what.waiters > 0) line("waiters", std::to_string(what.waiters));
        show(where);
        return;
    }
    std::printf("%s is %s%s\n", title.c_str(), paint("held", colour::yellow, coloured).c_str(),
                mode_summary(what).c_str());
    for (const holder& each : all) {
        show(what, each);
        if (all.size() > 1) std::printf("\n");
    }
    line("waiters", std::to_string(what.waiters));
    show(where);
}

}  // namespace

int status(const status_options& options) {
    check_name(options.name);
    const place where = find_place(options.on);
    blocking::client locks(where.where);
    const lock_info found = locks.inspect(options.name);
    if (options.json) {
        json text;
        write(text, found, {{"service", where.where.describe()}, {"source", where.source}});
        std::cout << text.str() << '\n';
    } else {
        show(found, where);
    }
    return static_cast<int>(is_held(found) ? exit_code::ok : exit_code::no);
}

}  // namespace pawl::cli
