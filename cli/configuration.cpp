#include "configuration.hpp"

#include "place.hpp"
#include "trusted_file.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>

namespace pawl::cli {

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

// The rest of the world is kept out by the file's rights alone, so they must be narrow.
void check_secrecy(const std::string& path, std::string_view url, bool readable_by_others) {
    if (!readable_by_others || without_password(url) == url) return;
    throw failure(exit_code::config, "'" + path +
                                         "' has a password and everybody may read it; run: chmod "
                                         "o-r " +
                                         path +
                                         ", or keep the password in a file that the URL "
                                         "names with password_file.");
}

std::optional<config_file> read_config(const std::string& path) {
    const auto file = read_trusted(path);
    if (!file) return {};
    auto config = parse_config(path, file->text);
    if (config.url) check_secrecy(path, config.url->text, file->readable_by_others);
    return config;
}

// A home that is closed to this process (a service without rights to it) has no file for it.
std::optional<config_file> read_user_config(const std::string& path) {
    if (path.empty()) return {};
    try {
        return read_config(path);
    } catch (const unreadable_file&) {
        struct stat about {};
        if (::stat(path.c_str(), &about) != 0) return {};
        throw;
    }
}

std::optional<config_file> read_host_config(const config_paths& paths, bool complete) {
    try {
        auto config = read_config(paths.host);
        if (!config && paths.host_is_named)
            throw failure(exit_code::config, "PAWL_CONFIG names '" + paths.host +
                                                 "', which does not exist; write that file, or "
                                                 "unset PAWL_CONFIG.");
        return config;
    } catch (const unreadable_file&) {
        if (complete) return {};
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

void add_namespace(configured_url& to, const configuration& from) {
    for (const auto* each : {&from.user, &from.host}) {
        if (!*each || !(*each)->name_space) continue;
        if (names_a_namespace(to.url)) return;
        const config_file& file = **each;
        to.url_without_name_space = to.url;
        to.name_space_source = position(file, *file.name_space);
        to.url += to.url.find('?') == std::string::npos ? '?' : '&';
        to.url += "namespace=" + escaped(file.name_space->text);
        return;
    }
}

configured_url read_named_file(const config_file& config) {
    const auto& path = config.url_file->text;
    const auto source = position(config, *config.url_file);
    const auto file = read_trusted(path);
    if (!file)
        throw failure(exit_code::no_input, source + ": there is no file '" + path +
                                               "'; write the URL into its first line.");
    auto url = file->text.substr(0, file->text.find('\n'));
    url.erase(url.find_last_not_of(" \t\r") + 1);
    if (url.empty())
        throw failure(exit_code::config,
                      source + ": the first line of '" + path + "' is empty; write the URL there.");
    check_secrecy(path, url, file->readable_by_others);
    if (names_relative_file(url))
        throw failure(exit_code::config, source + ": the URL in '" + path +
                                             "' has a relative path, which is another file in "
                                             "each folder; make it absolute.");
    return {.url = std::move(url), .source = source + ", which names " + path};
}

}  // namespace

std::string home_folder() {
    std::string given = variable("HOME");
    if (given.starts_with('/')) return given;
    const passwd* user = ::getpwuid(::geteuid());
    if (user == nullptr || user->pw_dir == nullptr) return {};
    return user->pw_dir;
}

config_paths config_paths_of_environment() {
    config_paths paths{.user = {}, .host = variable("PAWL_CONFIG")};
    paths.host_is_named = !paths.host.empty();
    if (!paths.host_is_named) paths.host = "/etc/pawl/pawl.conf";
    const std::string config = variable("XDG_CONFIG_HOME");
    const std::string home = home_folder();
    if (config.starts_with('/'))
        paths.user = config + "/pawl/pawl.conf";
    else if (!home.empty())
        paths.user = home + "/.config/pawl/pawl.conf";
    return paths;
}

configuration read_configuration(const config_paths& paths, bool complete) {
    return {.user = read_user_config(paths.user), .host = read_host_config(paths, complete)};
}

std::optional<configured_url> url_of(const configuration& from) {
    for (const auto* each : {&from.user, &from.host}) {
        if (!*each || (!(*each)->url && !(*each)->url_file)) continue;
        const config_file& file = **each;
        auto chosen =
            file.url ? configured_url{.url = file.url->text, .source = position(file, *file.url)}
                     : read_named_file(file);
        add_namespace(chosen, from);
        return chosen;
    }
    return {};
}

std::optional<duration> ttl_of(const configuration& from) {
    for (const auto* each : {&from.user, &from.host}) {
        if (*each && (*each)->ttl) return ttl_of(*(*each)->ttl);
    }
    return {};
}

std::string url_required_by(const configuration& from) {
    for (const auto* each : {&from.host, &from.user}) {
        if (*each && (*each)->require_url && is_yes(*(*each)->require_url))
            return position(**each, *(*each)->require_url);
    }
    return {};
}

}  // namespace pawl::cli
