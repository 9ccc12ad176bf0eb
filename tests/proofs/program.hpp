// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the main functions of pawl_proof and pawl_soak have in common.
#pragma once

#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace proofs {

// Runs a helper process, or `run` with the arguments. Returns the exit status: 2 after bad_usage, 1
// after another exception. `name` is that of the program in a sentence.
int run_program(int argc, char** argv, const std::string& name,
                const std::function<int(const std::vector<std::string>&)>& run);

// Opens the report at once: a bad name must not cost a run. An empty path opens nothing. Throws
// bad_usage.
[[nodiscard]] std::ofstream open_page(const std::string& path);

}  // namespace proofs
