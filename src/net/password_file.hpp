// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Reads the files with passwords that options name.
#pragma once

#include <string>

namespace pawl::net {

// Returns the file's first line. `secret` is "password" or "pass phrase", and `option` names the
// file in the URL, for messages. Throws errc::bad_option for a file that cannot be read, whose
// first line is empty or too long, or that everybody may read, unless its file system is mounted
// read-only.
[[nodiscard]] std::string read_secret_file(const std::string& path, const std::string& secret,
                                           const std::string& option);

}  // namespace pawl::net
