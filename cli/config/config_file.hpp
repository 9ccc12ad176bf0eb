// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The text of a configuration file: lines of `key = value`, and lines of comments that begin with
// #.
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

// A key that the file does not contain is empty.
struct config_file {
    std::string path;
    std::optional<config_value> url;
    std::optional<config_value> url_file;
    std::optional<config_value> name_space;
    std::optional<config_value> ttl;
    std::optional<config_value> require_url;
};

// Throws a failure that names the file and the line. The message repeats no value, because a value
// may be a password.
[[nodiscard]] config_file parse_config(const std::string& path, std::string_view text);

// For example "/etc/pawl/pawl.conf, line 3".
[[nodiscard]] std::string position(const config_file& file, const config_value& value);

// The values of `ttl` and `require_url`. parse_config has validated them.
[[nodiscard]] duration ttl_of(const config_value& value);
[[nodiscard]] bool is_yes(const config_value& value);

}  // namespace pawl::cli
