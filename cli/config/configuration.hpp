// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The configuration files of this user and of this host.
#pragma once

#include "config_file.hpp"

#include <optional>
#include <string>

namespace pawl::cli {

struct config_paths {
    std::string user;  // empty if the user has no home folder
    std::string host;
    bool host_is_named = false;  // by PAWL_CONFIG: the file must exist
};

// $XDG_CONFIG_HOME/pawl/pawl.conf or ~/.config/pawl/pawl.conf; $PAWL_CONFIG or
// /etc/pawl/pawl.conf.
[[nodiscard]] config_paths config_paths_of_environment();

// $HOME if it is an absolute path, otherwise the home folder of the user database; empty if there
// is none.
[[nodiscard]] std::string home_folder();

struct configuration {
    std::optional<config_file> user;
    std::optional<config_file> host;
};

// `service_is_named`: the command line or the environment names the service. Then a host's file
// that this user may not read is ignored. Throws a failure for an invalid file.
[[nodiscard]] configuration read_configuration(const config_paths& paths, bool service_is_named);

struct configured_url {
    std::string url;  // with the namespace, if one is set
    std::string source;
    // The URL before a configuration file added a namespace, and the source of that namespace. Both
    // are empty if none was added.
    std::string url_without_name_space{};
    std::string name_space_source{};
};

// The url or url_file of the user's file takes precedence over the host's, and so does the
// namespace. Empty if no file names a service.
[[nodiscard]] std::optional<configured_url> url_of(const configuration& config);
[[nodiscard]] std::optional<duration> ttl_of(const configuration& config);

// The position of `require_url = yes`, or empty. A user's `no` does not override the host's `yes`.
[[nodiscard]] std::string url_required_by(const configuration& config);

}  // namespace pawl::cli
