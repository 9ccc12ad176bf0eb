// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The file of `pawl cron`: docs/guide/schedules.md.
#pragma once

#include <pawl/guard/schedule_watch.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace pawl::cli {

struct cron_line {
    int number = 0;  // in the file, from 1
    std::string name;
    guard::cron_schedule schedule;
    guard::schedule_options options;
    std::string command;  // for /bin/sh
};

struct cron_file {
    std::vector<cron_line> lines;     // without those whose time zone is not valid
    std::vector<std::string> errors;  // a sentence for each invalid line, with its number
};

// `name` is the file's, for the errors.
[[nodiscard]] cron_file parse_cron_file(std::string_view text, const std::string& name);

// Throws if the file cannot be read or has no schedules.
[[nodiscard]] cron_file read_cron_file(const std::string& path);

}  // namespace pawl::cli
