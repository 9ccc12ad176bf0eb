// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The parameters of a statement as libpq takes them.
#pragma once

#include <pawl/guard/connection.hpp>

#include <string>
#include <vector>

namespace pawl::guard {

// Strings are sent in the binary format, which for text and bytea is the bytes themselves; numbers
// as text, whatever width their column has. The statement must outlive this object.
class postgres_parameters {
public:
    // Throws database_error for a string that is too long for a parameter.
    explicit postgres_parameters(const statement& to_run);

    [[nodiscard]] int count() const noexcept { return static_cast<int>(values_.size()); }
    [[nodiscard]] const char* const* values() const noexcept { return values_.data(); }
    [[nodiscard]] const int* lengths() const noexcept { return lengths_.data(); }
    [[nodiscard]] const int* formats() const noexcept { return formats_.data(); }

private:
    void add(const char* bytes, int length, int format);

    std::vector<std::string> numbers_;
    std::vector<const char*> values_;
    std::vector<int> lengths_, formats_;
};

}  // namespace pawl::guard
