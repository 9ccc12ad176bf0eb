// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Tables and pages of the reports.
#pragma once

#include <string>
#include <vector>

namespace real {

struct table_row {
    std::string label;
    std::vector<std::string> cells;  // none: a heading
};

// The first row has the titles of the columns.
[[nodiscard]] std::string to_text(const std::vector<table_row>& rows);
[[nodiscard]] std::string to_html(const std::vector<table_row>& rows);

[[nodiscard]] std::string escape_html(const std::string& text);
[[nodiscard]] std::string html_page(const std::string& sections,
                                    const std::string& title = "Proof");

}  // namespace real
