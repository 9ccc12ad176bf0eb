// The rows as a table for people, as JSON, and as a chart.
#pragma once

#include "measure.hpp"

#include <string>
#include <utility>
#include <vector>

namespace bench {

// What the numbers were taken on: processor, cores, load, compiler, server.
using surroundings = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] surroundings look_around(const std::string& server);

void print_table(const surroundings& where, const std::vector<row>& rows);
void write_json(const std::string& path, const surroundings& where, const std::vector<row>& rows);
// An SVG that brings its own background, light or dark as the reader prefers.
void write_chart(const std::string& path, const surroundings& where, const std::vector<row>& rows);

}  // namespace bench
