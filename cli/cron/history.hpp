// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include <pawl/guard/tick_records.hpp>

#include <vector>

namespace pawl::cli {

// Prints the records, newest first.
void print_history(const std::vector<guard::tick_record>& records, bool as_json);

}  // namespace pawl::cli
