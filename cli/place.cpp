#include "place.hpp"

#include "failure.hpp"
#include "trusted_folder.hpp"
#include "url_file.hpp"

#include <pawl/sqlite.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace pawl::cli {

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

// The files there decide who else has the locks, as pawl.conf does.
std::string trusted(const std::string& base, const char* below) {
    expect_trusted_way(base, base + below);
    return base + below;
}

// $XDG_STATE_HOME counts only as an absolute path, as its specification says.
std::string default_path() {
    const std::string state = variable("XDG_STATE_HOME");
    if (state.starts_with('/')) return trusted(state, "/pawl/locks.db");
    const std::string home = home_folder();
    if (home.empty())
        throw failure(
            exit_code::usage,
            "There is no home folder for the default lock file; say --on URL or set PAWL_URL.");
    return trusted(home, "/.local/state/pawl/locks.db");
}

// A path may hold what means something else in a URL.
std::string sqlite_url(std::string_view path) {
    std::string url = "sqlite:";
    for (const char each : path) {
        if (each == '%')
            url += "%25";
        else if (each == '?')
            url += "%3F";
        else
            url += each;
    }
    return url;
}

void check_contradictions(const place_options& options) {
    if (options.on && options.url_file) {
        throw failure(exit_code::usage,
                      "--on and --url-file both name the service; leave one out.");
    }
    if (options.local && (options.on || options.url_file)) {
        throw failure(exit_code::usage, std::string("--local and ") +
                                            (options.on ? "--on" : "--url-file") +
                                            " both say where the locks live; leave one out.");
    }
    // Most likely a variable of a script that is not set: not what meant "the default".
    if ((options.on && options.on->empty()) || (options.url_file && options.url_file->empty())) {
        throw failure(exit_code::usage, std::string(options.on ? "--on" : "--url-file") +
                                            " is empty; say where the locks live, or say --local "
                                            "for a file of this user.");
    }
}

bool is_complete(const place_options& options) {
    return options.on || options.url_file || options.local || !options.variable.empty() ||
           !options.file_variable.empty();
}

// What outlives one command line is read in many folders, and would name another file in each.
configured_url refuse_relative(configured_url given) {
    if (!names_relative_file(given.url)) return given;
    throw failure(exit_code::usage, "The URL of " + given.source +
                                        " has a relative path, which is another file in each "
                                        "folder; make it absolute, as in "
                                        "sqlite:/var/lib/pawl/locks.db.");
}

// Of the command line and the environment.
configured_url given_url(const place_options& options) {
    if (options.on) return {.url = *options.on, .source = "--on"};
    if (options.url_file)
        return refuse_relative({.url = read_url_file(*options.url_file, "--url-file"),
                                .source = "--url-file " + *options.url_file});
    if (!options.variable.empty())
        return refuse_relative({.url = options.variable, .source = "PAWL_URL"});
    return refuse_relative({.url = read_url_file(options.file_variable, "PAWL_URL_FILE"),
                            .source = "PAWL_URL_FILE, which names " + options.file_variable});
}

place default_place(std::string source) {
    const std::string path = default_path();
    return {.where = sqlite::at({.path = path, .make_folder = true}),
            .url = sqlite_url(path),
            .source = std::move(source),
            .secret_variables = {}};
}

place place_at(const configured_url& chosen) {
    auto where = from_url(chosen.url);
    // The command may be in another folder when it reads this.
    auto url = names_relative_file(chosen.url) ? where.describe() : without_password(chosen.url);
    return {.where = std::move(where),
            .url = std::move(url),
            .source = chosen.source,
            .secret_variables = variables_of(chosen.url)};
}

bool is_sound(const std::string& url) {
    try {
        static_cast<void>(from_url(url));
        return true;
    } catch (const error&) {
        return false;
    }
}

// The command line is before its author's eyes; of a file, which line of which one must be said.
place configured_place(const configured_url& chosen) {
    try {
        return place_at(chosen);
    } catch (const error& problem) {
        const bool by_namespace =
            !chosen.name_space_source.empty() && is_sound(chosen.url_without_name_space);
        throw failure(exit_code::config, (by_namespace ? chosen.name_space_source : chosen.source) +
                                             ": " + problem.what());
    }
}

// Three hosts that each run the job on a file of their own look as if all were well.
place unnamed_place(const configuration& files) {
    if (const auto required = url_required_by(files); !required.empty())
        throw failure(exit_code::config,
                      "No URL is set, and " + required +
                          ", requires one; say --on URL, set PAWL_URL or url in a configuration "
                          "file, or say --local for a file of this user.");
    auto result = default_place("the default, because no URL is set");
    say("No URL is set, so the locks are in " + result.url.substr(result.url.find(':') + 1) +
        " and exclude nobody but this user on this host; say --on URL, set PAWL_URL or url in "
        "/etc/pawl/pawl.conf, or say --local if that is meant.");
    return result;
}

struct span {
    std::size_t begin = 0;
    std::size_t end = 0;
};

// The user and password in front of the @. A password may hold a bare / or ?, so the last @ counts.
span user_info(std::string_view url) {
    const auto scheme = url.find("://");
    if (scheme == std::string_view::npos) return {};
    const auto begin = scheme + 3;
    const auto authority = url.substr(begin, url.find_first_of("/?#", begin) - begin);
    auto at = authority.rfind('@');
    if (at == std::string_view::npos && authority.find(':') != std::string_view::npos) {
        at = url.substr(begin).rfind('@');
    }
    return at == std::string_view::npos ? span{} : span{begin, begin + at};
}

bool is_secret(std::string_view option) {
    const auto name = option.substr(0, option.find('='));
    return name == "password" || name == "secret" || name == "token";
}

}  // namespace

place_options places_of_environment() {
    return {.on = {},
            .url_file = {},
            .local = false,
            .variable = variable("PAWL_URL"),
            .file_variable = variable("PAWL_URL_FILE"),
            .files = config_paths_of_environment()};
}

place find_place(const place_options& options) {
    check_contradictions(options);
    const bool complete = is_complete(options);
    // Also where it is not needed: a file that is wrong is told at once, not on a bad day.
    const auto files = read_configuration(options.files, complete);
    if (options.local) return default_place("--local");
    if (complete) return place_at(given_url(options));
    if (const auto configured = url_of(files)) return configured_place(*configured);
    return unnamed_place(files);
}

std::optional<duration> configured_ttl(const place_options& options) {
    return ttl_of(read_configuration(options.files, is_complete(options)));
}

place find_shared_place(const place_options& options) {
    place found = find_place(options);
    if (found.url.starts_with("memory:")) {
        throw failure(exit_code::usage,
                      "A lock in memory is seen by nobody else; name a server or a file.");
    }
    return found;
}

std::string without_password(std::string_view url) {
    std::string result(url);
    if (const auto info = user_info(url); info.end > info.begin) {
        const auto text = url.substr(info.begin, info.end - info.begin);
        const auto user = text.substr(0, text.find(':'));
        const auto skip = user.empty() ? 1U : 0U;  // the @ goes with the user
        result.replace(info.begin, info.end - info.begin + skip, user);
    }
    const auto query = result.find('?');
    if (query == std::string::npos) return result;

    std::string kept = result.substr(0, query);
    std::string_view rest = std::string_view(result).substr(query + 1);
    char separator = '?';
    while (!rest.empty()) {
        const auto option = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(rest.size(), option.size() + 1));
        if (is_secret(option)) continue;
        kept.append(1, separator).append(option);
        separator = '&';
    }
    return kept;
}

std::vector<std::string> variables_of(std::string_view url) {
    std::vector<std::string> names;
    const auto query = url.find('?');
    std::string_view rest = query == std::string_view::npos ? "" : url.substr(query + 1);
    while (!rest.empty()) {
        const auto option = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(rest.size(), option.size() + 1));
        const auto equals = option.find('=');
        if (equals == std::string_view::npos || !option.substr(0, equals).ends_with("_env"))
            continue;
        names.emplace_back(option.substr(equals + 1));
    }
    return names;
}

void hide_passwords(int count, char** arguments) {
    // Linux lays them out one behind the other; moving them together hides the password's length as
    // well.
    char* next = arguments[0];
    char* end = next;
    for (int i = 0; i < count && arguments[i] == end; ++i)
        end += std::strlen(arguments[i]) + 1;
    for (int i = 0; i < count; ++i) {
        const std::string hidden = without_password(arguments[i]);
        const bool together = arguments[i] >= next && arguments[i] < end;
        const std::size_t before = std::strlen(arguments[i]);
        if (!together) {
            std::memset(arguments[i], 0, before);
            std::memcpy(arguments[i], hidden.c_str(), hidden.size());
            continue;
        }
        std::memcpy(next, hidden.c_str(), hidden.size() + 1);
        arguments[i] = next;
        next += hidden.size() + 1;
    }
    if (next < end) std::memset(next, 0, static_cast<std::size_t>(end - next));

    if (char* url = ::getenv("PAWL_URL")) {
        const std::string hidden = without_password(url);
        std::memset(url, 0, std::strlen(url));
        std::memcpy(url, hidden.c_str(), hidden.size());
    }
}

}  // namespace pawl::cli
