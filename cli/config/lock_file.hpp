// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Lock files: the backend that the command uses where no URL names a service.
#pragma once

#include <pawl/service.hpp>

#include <string>
#include <string_view>

namespace pawl::cli {

// The URL of the lock file at an absolute path.
[[nodiscard]] std::string lock_file_url(std::string_view path);

// The service in that file, whose folder the first use creates. Throws a failure in a build without
// lock files.
[[nodiscard]] service lock_file_at(const std::string& path);

// True if the URL names a lock file by a relative path, which would be a different file in each
// folder.
[[nodiscard]] bool names_relative_file(std::string_view url);

// An absolute URL, for messages.
[[nodiscard]] std::string_view lock_file_example() noexcept;

}  // namespace pawl::cli
