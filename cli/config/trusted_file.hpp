// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Files that select the service. They are read only if no other user could have written them.
#pragma once

#include "../ui/failure.hpp"

#include <optional>
#include <string>

namespace pawl::cli {

struct trusted_text {
    std::string text;
    bool readable_by_others = false;
};

// The system does not permit this user to open the file.
class unreadable_file : public failure {
public:
    using failure::failure;
};

// Empty if the file does not exist. Otherwise it must be a regular file that belongs to the
// effective user or to root, without write permission for its group and others. /dev/null counts as
// an empty file. Throws a failure with one sentence.
[[nodiscard]] std::optional<trusted_text> read_trusted(const std::string& path);

}  // namespace pawl::cli
