// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The verbs of pawl_real. Each returns the exit status for main; a wrong command line is bad_usage.
#pragma once

#include <fstream>
#include <string>
#include <vector>

namespace real {

namespace proofs {
int run_verb(const std::vector<std::string>& arguments);
}
namespace soak {
int run_verb(const std::vector<std::string>& arguments);
}

// Opens the report at once: a bad name must not cost a run. An empty path opens nothing. Throws
// bad_usage.
[[nodiscard]] std::ofstream open_page(const std::string& path);

}  // namespace real
