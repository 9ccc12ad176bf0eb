// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A connection to the shop's database.
#pragma once

#include <pawl/guard/connection.hpp>

#include <memory>
#include <string>

namespace shop {

// A connection and its view, which die together.
class database {
public:
    virtual ~database() = default;
    virtual pawl::guard::connection& view() = 0;
};

// postgresql://… or sqlite:FILE. Throws std::runtime_error if it cannot be opened.
[[nodiscard]] std::unique_ptr<database> open_database(const std::string& url);

}  // namespace shop
