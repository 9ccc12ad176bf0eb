// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rows as a table for people, as JSON, and as a chart.
#pragma once

#include "measure.hpp"

#include <string>
#include <utility>
#include <vector>

namespace bench {

// The environment of the measurement: processor, cores, load, compiler, server.
using machine_info = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] machine_info describe_machine(const std::string& server);

void print_table(const machine_info& machine, const std::vector<row>& rows);
void write_json(const std::string& path, const machine_info& machine, const std::vector<row>& rows);
// An SVG with its own background, light or dark as the reader prefers.
void write_chart(const std::string& path, const machine_info& machine,
                 const std::vector<row>& rows);

}  // namespace bench
