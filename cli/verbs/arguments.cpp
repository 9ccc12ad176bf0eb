// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "arguments.hpp"

#include "../ui/failure.hpp"

#include <charconv>
#include <limits>

namespace pawl::cli {

void add_url_options(CLI::App& verb, arguments& args) {
    verb.add_option("--on", args.location.url,
                    "The URL of the service (else $PAWL_URL, else pawl.conf)")
        ->type_name("URL");
    verb.add_option("--url-file", args.location.url_file,
                    "Read the URL from a file ($PAWL_URL_FILE)")
        ->type_name("FILE");
}

void add_location_options(CLI::App& verb, arguments& args) {
    add_url_options(verb, args);
    verb.add_flag("--local", args.location.local, "Use a lock file of this user on this host");
}

void add_json(CLI::App& verb, arguments& args) { verb.add_flag("--json", args.json, "Print JSON"); }

void add_name(CLI::App& verb, arguments& args, const char* description) {
    verb.add_option("NAME", args.name, description)->required()->type_name("");
}

constexpr auto most_permits = std::numeric_limits<std::uint32_t>::max();

std::uint32_t count_option(std::string_view option, std::string_view text) {
    std::uint32_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, problem] = std::from_chars(text.data(), end, value);
    if (problem == std::errc{} && stopped == end && value > 0) return value;
    const auto* const both = option == "--permits" ? ", or K/N as in 1/3." : ".";
    throw failure(exit_code::usage, "'" + std::string(text) + "' is not valid for " +
                                        std::string(option) + "; use a whole number from 1 to " +
                                        std::to_string(most_permits) + ", such as 5" + both);
}

fencing_token token_option(std::string_view text) {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, problem] = std::from_chars(text.data(), end, value);
    if (problem == std::errc{} && stopped == end && value > 0) return fencing_token(value);
    throw failure(exit_code::usage, "'" + std::string(text) +
                                        "' is not a token for --token; use the number that `pawl "
                                        "status` shows.");
}

}  // namespace pawl::cli
