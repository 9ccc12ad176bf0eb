// Where the locks live, and how its password stays out of sight.
#pragma once

#include "configuration.hpp"

#include <pawl/service.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::cli {

struct place_options {
    std::optional<std::string> on;        // --on
    std::optional<std::string> url_file;  // --url-file
    bool local = false;                   // --local
    std::string variable;                 // PAWL_URL; empty: not set
    std::string file_variable;            // PAWL_URL_FILE; empty: not set
    config_paths files;
};

struct place {
    service where;
    // The URL for a child's PAWL_URL: without any password.
    std::string url;
    // What named it: "--on", "PAWL_URL", "/etc/pawl/pawl.conf, line 3".
    std::string source;
    // Environment variables that the URL takes a password from.
    std::vector<std::string> secret_variables;
};

// What the environment says; to be read before hide_passwords.
[[nodiscard]] place_options places_of_environment();

// --on, --url-file or --local, PAWL_URL, PAWL_URL_FILE, the user's and the host's configuration
// file, in this order; else, with a line on stderr, a SQLite file in the user's state folder.
[[nodiscard]] place find_place(const place_options& options);
// The same for verbs that mean nothing to a single process: refuses memory.
[[nodiscard]] place find_shared_place(const place_options& options);

// The ttl of the configuration files; empty where they have none.
[[nodiscard]] std::optional<duration> configured_ttl(const place_options& options);

// The URL without its password; the user stays.
[[nodiscard]] std::string without_password(std::string_view url);

// Environment variables that the URL's options take a secret from.
[[nodiscard]] std::vector<std::string> variables_of(std::string_view url);

// Overwrites passwords of URLs in the process's arguments and in the PAWL_URL of its first
// environment, where `ps` would show them. To be called once, by main, when both were read.
void hide_passwords(int count, char** arguments);

}  // namespace pawl::cli
