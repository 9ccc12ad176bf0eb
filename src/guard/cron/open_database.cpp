// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/guard/open_database.hpp>

#include <pawl_record_databases.hpp>

namespace pawl::guard {

bool keeps_records(std::string_view scheme) {
    for (const auto& each : record_databases)
        if (each.scheme == scheme) return true;
    return false;
}

std::unique_ptr<connection> open_database(std::string_view url, if_missing file) {
    for (const auto& [scheme, open] : record_databases)
        if (url.substr(0, url.find(':')) == scheme) return open(url, file);
    return nullptr;
}

}  // namespace pawl::guard
