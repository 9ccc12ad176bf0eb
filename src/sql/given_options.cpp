// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "given_options.hpp"

#include <pawl/error.hpp>

#include <algorithm>
#include <string>

namespace pawl::sql {

void refuse_options(std::span<const given_option> all, std::string_view locks,
                    std::string_view mode) {
    const auto foreign = std::ranges::find(all, true, &given_option::is_given);
    if (foreign == all.end()) return;
    const std::string verb = locks.ends_with('s') ? " have" : " has";
    throw error(errc::bad_option, std::string(locks) + verb + " no option " +
                                      std::string(foreign->name) + "; leave it out, or " +
                                      std::string(mode) + ".");
}

}  // namespace pawl::sql
