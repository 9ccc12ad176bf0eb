// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Reads files that options name. A user may name a FIFO or a device by mistake, and reading such a
// file would never end.
#pragma once

#include <cstddef>
#include <string>

namespace pawl::core {

// The first line of a regular file; empty if the file is empty. `subject` begins the message, for
// example "The password file". Throws errc::bad_option, also if the line is longer than `limit`
// bytes.
[[nodiscard]] std::string first_line_of(const std::string& path, const std::string& subject,
                                        std::size_t limit);

// Throws errc::bad_option if the path leads to something other than a regular file, or to a file of
// more than `limit` bytes. A path that cannot be examined passes: its use will fail.
void expect_regular_file(const std::string& path, const std::string& subject, std::size_t limit);

}  // namespace pawl::core
