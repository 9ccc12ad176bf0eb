// What the configuration files of this user and of this host say.
#pragma once

#include "config_file.hpp"

#include <optional>
#include <string>

namespace pawl::cli {

struct config_paths {
    std::string user;  // empty: this user has no home
    std::string host;
    bool host_is_named = false;  // by PAWL_CONFIG: the file must be there
};

// $XDG_CONFIG_HOME/pawl/pawl.conf or ~/.config/pawl/pawl.conf; $PAWL_CONFIG or
// /etc/pawl/pawl.conf.
[[nodiscard]] config_paths config_paths_of_environment();

// $HOME where it is an absolute path, else what the user database says; empty where neither does.
[[nodiscard]] std::string home_folder();

struct configuration {
    std::optional<config_file> user;
    std::optional<config_file> host;
};

// `complete`: the command line or the environment names the service, so that a host's file that
// this user may not read does no harm. Throws a failure for a file that is wrong.
[[nodiscard]] configuration read_configuration(const config_paths& paths, bool complete);

struct configured_url {
    std::string url;  // with the namespace, where one is set
    std::string source;
    // Where a configuration file's namespace was added; empty where none was.
    std::string url_without_name_space{};
    std::string name_space_source{};
};

// The user's url or url_file counts before the host's; so does the user's namespace. Empty where no
// file names a service.
[[nodiscard]] std::optional<configured_url> url_of(const configuration& from);
[[nodiscard]] std::optional<duration> ttl_of(const configuration& from);

// The position of `require_url = yes`; empty where no file has it. A user's `no` does not undo the
// host's `yes`.
[[nodiscard]] std::string url_required_by(const configuration& from);

}  // namespace pawl::cli
