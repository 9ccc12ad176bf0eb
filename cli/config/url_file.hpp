// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The file of --url-file or PAWL_URL_FILE.
#pragma once

#include <string>

namespace pawl::cli {

// Returns the first line without trailing blanks. The file is a regular file or a pipe, such as the
// `<(...)` of a shell. The line has at most 64 KiB, and a pipe must deliver it within 5 s. Throws a
// failure with one sentence. `named_by` is the option or variable.
[[nodiscard]] std::string read_url_file(const std::string& path, const std::string& named_by);

}  // namespace pawl::cli
