// The text of a configuration file: lines of `key = value`, and comments behind a #.
#pragma once

#include <pawl/types.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace pawl::cli {

struct config_value {
    std::string text;
    unsigned line = 0;
};

// Each empty where the file does not have the key.
struct config_file {
    std::string path;
    std::optional<config_value> url;
    std::optional<config_value> url_file;
    std::optional<config_value> name_space;
    std::optional<config_value> ttl;
    std::optional<config_value> require_url;
};

// Throws a failure that names the file and the line, and repeats no value: it may be a password.
[[nodiscard]] config_file parse_config(const std::string& path, std::string_view text);

// "/etc/pawl/pawl.conf, line 3"
[[nodiscard]] std::string position(const config_file& file, const config_value& value);

// A file whose path is not absolute: another one in each folder.
[[nodiscard]] bool names_relative_file(std::string_view url);

// What the two values mean that are not taken as they stand; parse_config has checked them.
[[nodiscard]] duration ttl_of(const config_value& value);
[[nodiscard]] bool is_yes(const config_value& value);

}  // namespace pawl::cli
