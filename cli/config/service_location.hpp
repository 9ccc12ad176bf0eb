// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The service that holds the locks: its URL, the source that named it, and hiding its password.
#pragma once

#include "configuration.hpp"

#include <pawl/service.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::cli {

struct location_options {
    std::optional<std::string> url;       // --on
    std::optional<std::string> url_file;  // --url-file
    bool local = false;                   // --local
    bool announces_default = true;        // whether a line on stderr names the default file
    std::string variable;                 // PAWL_URL; empty if not set
    std::string file_variable;            // PAWL_URL_FILE; empty if not set
    config_paths files;
};

struct service_location {
    service lock_service;
    // The URL for a child's PAWL_URL, without any password.
    std::string url;
    // The URL with its password, for a client that the command makes itself. Never shown or passed
    // on.
    std::string secret_url;
    // The source of the URL: "--on", "PAWL_URL", "/etc/pawl/pawl.conf, line 3".
    std::string source;
    // Environment variables that contain the password of the URL.
    std::vector<std::string> secret_variables;
};

// Reads the environment. Must be called before hide_passwords.
[[nodiscard]] location_options location_from_environment();

// Uses the first source that names a service: --on, --url-file or --local, PAWL_URL, PAWL_URL_FILE,
// the user's and the host's configuration file. Without any, uses a lock file in the user's state
// folder and prints a line on stderr. The commands that messages advise name the service as this
// command line does.
[[nodiscard]] service_location find_location(const location_options& options);
// The URL of that source, perhaps with a password. Does not check it, and reads nothing that it
// names. Empty for that lock file.
[[nodiscard]] std::string find_url(const location_options& options);
// As find_location, but refuses memory, which is useless for verbs that work across processes.
[[nodiscard]] service_location find_shared_location(const location_options& options);

// The ttl of the configuration files, or empty.
[[nodiscard]] std::optional<duration> configured_ttl(const location_options& options);

}  // namespace pawl::cli
