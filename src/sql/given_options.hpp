// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Options that exclude each other.
#pragma once

#include <span>
#include <string_view>

namespace pawl::sql {

struct given_option {
    std::string_view name;
    bool is_given = false;  // its value is not the default
};

// Throws errc::bad_option for the first one that is given: `locks`, which the option `mode` asks
// for, have no such options.
void refuse_options(std::span<const given_option> all, std::string_view locks,
                    std::string_view mode);

}  // namespace pawl::sql
