#include "arguments.hpp"

#include "failure.hpp"

#include <charconv>
#include <limits>

namespace pawl::cli {

void add_place(CLI::App& verb, arguments& into) {
    verb.add_option("--on", into.on.on,
                    "Where the locks live; else $PAWL_URL, else as pawl.conf says")
        ->type_name("URL");
    verb.add_option("--url-file", into.on.url_file, "Read the URL from a file ($PAWL_URL_FILE)")
        ->type_name("FILE");
    verb.add_flag("--local", into.on.local, "In a file of this user, for this host alone");
}

void add_json(CLI::App& verb, arguments& into) { verb.add_flag("--json", into.json, "Print JSON"); }

void add_name(CLI::App& verb, arguments& into, const char* what) {
    verb.add_option("NAME", into.name, what)->required()->type_name("");
}

constexpr auto most_permits = std::numeric_limits<std::uint32_t>::max();

std::uint32_t count_option(std::string_view option, std::string_view text) {
    std::uint32_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, problem] = std::from_chars(text.data(), end, value);
    if (problem == std::errc{} && stopped == end && value > 0) return value;
    throw failure(exit_code::usage, "'" + std::string(text) + "' is not a number of permits for " +
                                        std::string(option) + "; use a whole number from 1 to " +
                                        std::to_string(most_permits) + ", such as 5.");
}

}  // namespace pawl::cli
