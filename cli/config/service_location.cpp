// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "service_location.hpp"

#include "../ui/advice.hpp"
#include "../ui/failure.hpp"
#include "environment.hpp"
#include "lock_file.hpp"
#include "trusted_folder.hpp"
#include "url_file.hpp"
#include "url_passwords.hpp"

#include <cstdlib>
#include <filesystem>

namespace pawl::cli {

namespace {

// Another user who can write to the folders of the lock file decides who holds the locks.
std::string trusted_path(const std::string& base, const char* below) {
    expect_trusted_path(base, base + below);
    return base + below;
}

// The XDG specification says that $XDG_STATE_HOME must be an absolute path.
std::string default_path() {
    const std::string state = environment_variable("XDG_STATE_HOME");
    if (state.starts_with('/')) return trusted_path(state, "/pawl/locks.db");
    const std::string home = home_folder();
    if (home.empty())
        throw failure(
            exit_code::usage,
            "There is no home folder for the default lock file; use --on URL, or set PAWL_URL.");
    // Daemons' users have such a home folder. Making it would hide the mistake: another user's jobs
    // would have another file.
    if (std::error_code ignored; !std::filesystem::is_directory(home, ignored))
        throw failure(exit_code::usage, "The home folder '" + home +
                                            "', which the default lock file needs, does not "
                                            "exist; use --on URL, or set PAWL_URL.");
    return trusted_path(home, "/.local/state/pawl/locks.db");
}

void check_contradictions(const location_options& options) {
    if (options.url && options.url_file) {
        throw failure(exit_code::usage,
                      "--on and --url-file both name the service; use only one of them.");
    }
    if (options.local && (options.url || options.url_file)) {
        throw failure(exit_code::usage, std::string("--local and ") +
                                            (options.url ? "--on" : "--url-file") +
                                            " both name the service; use only one of them.");
    }
    // An empty value usually comes from an unset variable of a script, and does not mean "the
    // default".
    if ((options.url && options.url->empty()) || (options.url_file && options.url_file->empty())) {
        throw failure(
            exit_code::usage,
            std::string(options.url ? "--on" : "--url-file") +
                " is empty; name the service, or use --local for a lock file of this user.");
    }
}

// Whether the command line or the environment names the service.
bool names_service(const location_options& options) {
    return options.url || options.url_file || options.local || !options.variable.empty() ||
           !options.file_variable.empty();
}

// For every source except --on. Programs in different folders use the same variable or URL file,
// and a relative path would name a different file in each folder.
configured_url refuse_relative(configured_url candidate) {
    if (!names_relative_file(candidate.url)) return candidate;
    throw failure(exit_code::usage,
                  "The URL of " + candidate.source +
                      " has a relative path, which names a different file in each folder; use an "
                      "absolute path, as in " +
                      std::string(lock_file_example()) + ".");
}

// The URL of the command line or of the environment.
configured_url explicit_url(const location_options& options) {
    if (options.url) return {.url = *options.url, .source = "--on"};
    if (options.url_file)
        return refuse_relative({.url = read_url_file(*options.url_file, "--url-file"),
                                .source = "--url-file " + *options.url_file});
    if (!options.variable.empty())
        return refuse_relative({.url = options.variable, .source = "PAWL_URL"});
    return refuse_relative({.url = read_url_file(options.file_variable, "PAWL_URL_FILE"),
                            .source = "PAWL_URL_FILE, which names " + options.file_variable});
}

service_location default_location(std::string source) {
    const std::string path = default_path();
    return {.lock_service = lock_file_at(path),
            .url = lock_file_url(path),
            .secret_url = lock_file_url(path),
            .source = std::move(source),
            .secret_variables = {}};
}

service_location location_at(const configured_url& selected_url) {
    auto lock_service = from_url(selected_url.url);
    // The command of `pawl run` gets this URL in PAWL_URL, and may use it in a different folder.
    auto url = names_relative_file(selected_url.url) ? lock_service.describe()
                                                     : without_password(selected_url.url);
    return {.lock_service = std::move(lock_service),
            .url = std::move(url),
            .secret_url = selected_url.url,
            .source = selected_url.source,
            .secret_variables = variables_of(selected_url.url)};
}

// An error in a URL that is not in the command line names its source.
service_location explicit_location(const location_options& options) {
    const auto selected_url = explicit_url(options);
    try {
        return location_at(selected_url);
    } catch (const error& problem) {
        if (options.url) throw;
        throw failure(code_for(problem.reason()), selected_url.source + ": " + problem.what());
    }
}

bool is_valid_url(const std::string& url) {
    try {
        static_cast<void>(from_url(url));
        return true;
    } catch (const error&) {
        return false;
    }
}

// An error in the URL of a configuration file names the file and the line of the URL, or of the
// namespace if the URL is valid without it.
service_location configured_location(const configured_url& selected_url) {
    try {
        return location_at(selected_url);
    } catch (const error& problem) {
        const bool by_namespace = !selected_url.name_space_source.empty() &&
                                  is_valid_url(selected_url.url_without_name_space);
        throw failure(exit_code::config,
                      (by_namespace ? selected_url.name_space_source : selected_url.source) + ": " +
                          problem.what());
    }
}

// If several hosts each use their own lock file, they run the same job at the same time without an
// error. So a URL can be required, and the default is announced.
service_location location_without_url(const configuration& files, bool announces_default) {
    if (const auto required = url_required_by(files); !required.empty())
        throw failure(exit_code::config,
                      "No URL is set, and " + required +
                          ", requires one; use --on URL, set PAWL_URL or url in a configuration "
                          "file, or use --local for a lock file of this user.");
    auto result = default_location("the default, because no URL is set");
    if (announces_default)
        say("No URL is set, so the locks are in " + result.url.substr(result.url.find(':') + 1) +
            " and exclude only this user's processes on this host; use --on URL, set PAWL_URL or "
            "url in /etc/pawl/pawl.conf, or use --local to confirm this file.");
    return result;
}

}  // namespace

location_options location_from_environment() {
    return {.url = {},
            .url_file = {},
            .local = false,
            .variable = environment_variable("PAWL_URL"),
            .file_variable = environment_variable("PAWL_URL_FILE"),
            .files = config_paths_of_environment()};
}

std::string find_url(const location_options& options) {
    check_contradictions(options);
    const bool service_is_named = names_service(options);
    const auto files = read_configuration(options.files, service_is_named);
    if (options.local) return {};
    if (service_is_named) return explicit_url(options).url;
    const auto configured = url_of(files);
    return configured ? configured->url : std::string();
}

namespace {

service_location select_location(const location_options& options) {
    const bool service_is_named = names_service(options);
    // The files are always read, so that an invalid file is reported at once, and not when it is
    // needed.
    const auto files = read_configuration(options.files, service_is_named);
    if (options.local) return default_location("--local");
    if (service_is_named) return explicit_location(options);
    if (const auto configured = url_of(files)) return configured_location(*configured);
    return location_without_url(files, options.announces_default);
}

}  // namespace

service_location find_location(const location_options& options) {
    check_contradictions(options);
    auto result = select_location(options);
    if (options.url) set_service_option("--on '" + result.url + "'");
    if (options.local || options.url_file) set_service_option(result.source);
    return result;
}

std::optional<duration> configured_ttl(const location_options& options) {
    return ttl_of(read_configuration(options.files, names_service(options)));
}

service_location find_shared_location(const location_options& options) {
    service_location result = find_location(options);
    if (result.url.starts_with("memory:")) {
        throw failure(exit_code::usage,
                      "No other process can see a lock in memory; name a server or a file.");
    }
    return result;
}

}  // namespace pawl::cli
