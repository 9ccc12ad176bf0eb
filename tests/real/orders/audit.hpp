// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The independent auditor, audit.py: it reads the database through psql, the log of the service
// outside and what the callers were told. It shares no code with the library.
#pragma once

#include "faults.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace real::orders {

// A rule, and how often it is broken.
struct audit_rule {
    std::string name;
    std::size_t count = 0;
    std::string examples{};  // of orders that break it
};

struct audit_sources {
    std::string database;     // a URL
    std::string outside_log;  // files
    std::string answers;      // "ORDER STATE VALUE" for each answer to a caller
    std::size_t orders = 0;   // their names are order-0, order-1 …
    std::int64_t items = 0;   // in the stock at the beginning
};

// Throws std::runtime_error with the auditor's output if it fails.
[[nodiscard]] std::vector<audit_rule> audit(story which, const audit_sources& sources);

}  // namespace real::orders
