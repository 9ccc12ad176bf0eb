// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../ui/advice.hpp"
#include "../ui/failure.hpp"
#include "../ui/json.hpp"
#include "../ui/style.hpp"
#include "verbs.hpp"

#if PAWL_WITH_REDIS
#include <pawl/blocking/redlock_administration.hpp>
#endif

#include <unistd.h>
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

namespace pawl::cli {

#if PAWL_WITH_REDIS
namespace {

using redlock::node_status;

std::string as_json(const std::vector<node_status>& nodes) {
    json text;
    text.begin_array();
    for (const auto& each : nodes) {
        text.begin_object().field("node", each.name).field("votes", each.votes);
        text.field("objection", each.objection);
        text.field("incarnation", static_cast<std::int64_t>(each.incarnation));
        text.field("warning", each.warning).end_object();
    }
    return text.end_array().str();
}

bool all_vote(const std::vector<node_status>& nodes) {
    return std::ranges::all_of(nodes, &node_status::votes);
}

// 1 if fewer than a majority votes.
int show(const std::vector<node_status>& nodes, bool wants_json) {
    const auto votes =
        static_cast<std::size_t>(std::ranges::count(nodes, true, &node_status::votes));
    if (wants_json) {
        std::cout << as_json(nodes) << '\n';
    } else {
        table rows({{.title = "NODE", .side = table::align::left, .flexible = false},
                    {.title = "VOTES", .side = table::align::left, .flexible = false},
                    {.title = "LIVES", .side = table::align::right, .flexible = false},
                    {.title = "", .side = table::align::left, .flexible = true}});
        for (const auto& each : nodes)
            rows.add({{printable(each.name)},
                      {each.votes ? "yes" : "no", each.votes ? colour::green : colour::yellow},
                      {each.incarnation == 0 ? "-" : std::to_string(each.incarnation)},
                      {printable(in_command_words(each.objection.empty() ? each.warning
                                                                         : each.objection))}});
        std::cout << rows.text(terminal_width(STDOUT_FILENO), wants_colour(STDOUT_FILENO));
        std::cout << votes << " of " << nodes.size() << " nodes vote; a lock needs "
                  << nodes.size() / 2 + 1 << ".\n";
    }
    return static_cast<int>(votes > nodes.size() / 2 ? exit_code::ok : exit_code::no);
}

void check_confirmation(const redlock_options& options) {
    if (options.yes) return;
    if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1)
        throw failure(exit_code::usage,
                      "There is no terminal for the confirmation; add --yes if nobody holds a lock "
                      "of these nodes.");
    std::cerr << "The set grants locks at once. A lock of these nodes that a process still holds "
                 "may then be granted twice. Begin a new set? Only if no process holds a lock of "
                 "these nodes. [y/N] "
              << std::flush;
    std::string reply;
    std::getline(std::cin, reply);
    if (reply != "y" && reply != "Y" && reply != "yes")
        throw failure(exit_code::no, "Nothing was changed.");
}

}  // namespace

int redlock_set(const redlock_options& options) {
    if (options.operation != "init" && options.operation != "status" &&
        options.operation != "rejoin")
        throw failure(exit_code::usage, "There is no operation '" + options.operation +
                                            "' of a set; use status, init or rejoin.");
    if (options.operation != "init" && (options.force || options.yes))
        throw failure(exit_code::usage, "Only init has --force and --yes; leave them out of " +
                                            options.operation + ".");
    auto sources = options.location;
    sources.announces_default = false;  // the default lock file is refused below
    const service_location location = find_shared_location(sources);
    if (!location.url.starts_with("redlock"))
        throw failure(exit_code::usage,
                      "Only Redlock has a set of nodes; name them, as in: pawl redlock " +
                          options.operation + " --on redlock://HOST1,HOST2,HOST3.");
    const blocking::redlock_administration set(redlock::parse(location.secret_url));
    if (options.operation == "init") {
        if (!options.force) {
            const auto nodes = set.examine();
            if (all_vote(nodes)) {
                say("These nodes are a set already, and it grants locks; there is nothing to do.");
                return show(nodes, options.json);
            }
        }
        check_confirmation(options);
        set.begin_set(options.force);
    }
    return show(options.operation == "rejoin" ? set.rejoin() : set.examine(), options.json);
}
#else
int redlock_set(const redlock_options&) {
    throw failure(exit_code::usage,
                  "This command is built without Redis, which Redlock needs; build it with "
                  "-DPAWL_WITH_REDIS=ON.");
}
#endif

}  // namespace pawl::cli
