// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The folder of the default lock file, which no other user may redirect.
#pragma once

#include <string>

namespace pawl::cli {

// Checks each existing component of `path` below the folder `base`. Each folder, each symbolic link
// and the file must belong to the effective user or to root, and others must have no write
// permission. Only the folders before the last may have write permission for their group, as with a
// umask of 002. Throws a failure with one sentence.
void expect_trusted_path(const std::string& base, const std::string& path);

}  // namespace pawl::cli
