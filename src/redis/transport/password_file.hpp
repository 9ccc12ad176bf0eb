// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Reads the file that the URL's option password_file names.
#pragma once

#include <string>

namespace pawl::redis {

// Returns the file's first line. Throws errc::bad_option for a file that cannot be read, whose
// first line is empty, or that everybody may read, unless its file system is mounted read-only.
[[nodiscard]] std::string read_password_file(const std::string& path);

}  // namespace pawl::redis
