// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "configuration.hpp"

#include "environment.hpp"
#include "lock_file.hpp"
#include "trusted_file.hpp"
#include "url_passwords.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>

namespace pawl::cli {

namespace {

// Only the file's permissions protect the password, so others must not be able to read the file.
void check_secrecy(const std::string& path, std::string_view url, bool readable_by_others) {
    if (!readable_by_others || without_password(url) == url) return;
    throw failure(exit_code::config,
                  "'" + path +
                      "' contains a password and is readable by everybody; run: chmod o-r " + path +
                      ", or put the password into a file that the URL names with password_file or "
                      "passfile.");
}

std::optional<config_file> read_config(const std::string& path) {
    const auto file = read_trusted(path);
    if (!file) return {};
    auto config = parse_config(path, file->text);
    if (config.url) check_secrecy(path, config.url->text, file->readable_by_others);
    return config;
}

// A home folder that this process may not enter (as for a service without permission) counts as one
// without a configuration file.
std::optional<config_file> read_user_config(const std::string& path) {
    if (path.empty()) return {};
    try {
        return read_config(path);
    } catch (const unreadable_file&) {
        struct stat status {};
        if (::stat(path.c_str(), &status) != 0) return {};
        throw;
    }
}

std::optional<config_file> read_host_config(const config_paths& paths, bool service_is_named) {
    try {
        auto config = read_config(paths.host);
        if (!config && paths.host_is_named)
            throw failure(exit_code::config,
                          "PAWL_CONFIG names '" + paths.host +
                              "', which does not exist; create the file, or unset PAWL_CONFIG.");
        return config;
    } catch (const unreadable_file&) {
        if (service_is_named) return {};
        throw;
    }
}

std::string escaped(std::string_view text) {
    static constexpr char digits[] = "0123456789ABCDEF";
    std::string result;
    for (const char each : text) {
        const auto byte = static_cast<unsigned char>(each);
        const bool plain = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
                           (each >= '0' && each <= '9') ||
                           std::string_view("-._~:/").find(each) != std::string_view::npos;
        if (plain)
            result += each;
        else
            result.append(1, '%').append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    }
    return result;
}

bool names_a_namespace(std::string_view url) {
    const auto query = url.find('?');
    if (query == std::string_view::npos) return false;
    const auto options = url.substr(query);
    return options.starts_with("?namespace=") ||
           options.find("&namespace=") != std::string_view::npos;
}

void add_namespace(configured_url& target, const configuration& config) {
    for (const auto* each : {&config.user, &config.host}) {
        if (!*each || !(*each)->name_space) continue;
        if (names_a_namespace(target.url)) return;
        const config_file& file = **each;
        target.url_without_name_space = target.url;
        target.name_space_source = position(file, *file.name_space);
        target.url += target.url.find('?') == std::string::npos ? '?' : '&';
        target.url += "namespace=" + escaped(file.name_space->text);
        return;
    }
}

configured_url read_named_file(const config_file& config) {
    const auto& path = config.url_file->text;
    const auto source = position(config, *config.url_file);
    const auto file = read_trusted(path);
    if (!file)
        throw failure(exit_code::no_input,
                      source + ": the file '" + path +
                          "' does not exist; create it with the URL in its first line.");
    auto url = file->text.substr(0, file->text.find('\n'));
    url.erase(url.find_last_not_of(" \t\r") + 1);
    if (url.empty())
        throw failure(exit_code::config,
                      source + ": the first line of '" + path + "' is empty; put the URL there.");
    check_secrecy(path, url, file->readable_by_others);
    if (names_relative_file(url))
        throw failure(exit_code::config, source + ": the URL in '" + path +
                                             "' has a relative path, which names a different file "
                                             "in each folder; use an absolute path.");
    return {.url = std::move(url), .source = source + ", which names " + path};
}

}  // namespace

std::string home_folder() {
    std::string value = environment_variable("HOME");
    if (value.starts_with('/')) return value;
    const passwd* user = ::getpwuid(::geteuid());
    if (user == nullptr || user->pw_dir == nullptr) return {};
    return user->pw_dir;
}

config_paths config_paths_of_environment() {
    config_paths paths{.user = {}, .host = environment_variable("PAWL_CONFIG")};
    paths.host_is_named = !paths.host.empty();
    if (!paths.host_is_named) paths.host = "/etc/pawl/pawl.conf";
    const std::string config = environment_variable("XDG_CONFIG_HOME");
    const std::string home = home_folder();
    if (config.starts_with('/'))
        paths.user = config + "/pawl/pawl.conf";
    else if (!home.empty())
        paths.user = home + "/.config/pawl/pawl.conf";
    return paths;
}

configuration read_configuration(const config_paths& paths, bool service_is_named) {
    return {.user = read_user_config(paths.user),
            .host = read_host_config(paths, service_is_named)};
}

std::optional<configured_url> url_of(const configuration& config) {
    for (const auto* each : {&config.user, &config.host}) {
        if (!*each || (!(*each)->url && !(*each)->url_file)) continue;
        const config_file& file = **each;
        auto selected_url =
            file.url ? configured_url{.url = file.url->text, .source = position(file, *file.url)}
                     : read_named_file(file);
        add_namespace(selected_url, config);
        return selected_url;
    }
    return {};
}

std::optional<duration> ttl_of(const configuration& config) {
    for (const auto* each : {&config.user, &config.host}) {
        if (*each && (*each)->ttl) return ttl_of(*(*each)->ttl);
    }
    return {};
}

std::string url_required_by(const configuration& config) {
    for (const auto* each : {&config.host, &config.user}) {
        if (*each && (*each)->require_url && is_yes(*(*each)->require_url))
            return position(**each, *(*each)->require_url);
    }
    return {};
}

}  // namespace pawl::cli
