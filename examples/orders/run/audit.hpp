// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a run has done, read from the database and from the log of the outside.
#pragma once

#include "stories.hpp"

#include <pawl/guard/connection.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace shop {

struct damage {
    std::uint64_t twice_here = 0;        // orders or purchases with more than one row
    std::uint64_t twice_outside = 0;     // charges or verifications with more than one effect
    std::uint64_t differing = 0;         // whose last effect outside is not what the record says
    std::uint64_t unfinished = 0;        // not paid, not verified, or not sold
    std::uint64_t unknown_here = 0;      // of these: charged outside
    std::uint64_t wrong_stock = 0;       // items that are neither in the stock nor sold
    std::vector<std::string> example{};  // of a wrong order, some lines

    [[nodiscard]] std::uint64_t total() const noexcept {
        return twice_here + twice_outside + differing + unfinished + wrong_stock;
    }
};

struct audit {
    std::uint64_t orders = 0;   // rows of the story's table, or verified payments
    std::uint64_t effects = 0;  // outside
    damage wrong;
};

// All processes of the run must have ended.
[[nodiscard]] audit audit_run(story told, const layer_set& layers, const std::vector<visit>& visits,
                              pawl::guard::connection& db, const std::string& log);

}  // namespace shop
