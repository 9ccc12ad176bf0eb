// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Controls the resolution of host names in this process: `getaddrinfo` asks this table first. Other
// names go to the system.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace chaos {

// For one test. The destructor forgets its names and completes hanging look-ups.
class host_names {
public:
    host_names() = default;
    ~host_names();
    host_names(const host_names&) = delete;
    host_names& operator=(const host_names&) = delete;

    void resolve_to(const std::string& name, const std::vector<std::string>& addresses);
    // As if no name server answered, until `release_hanging` or the end.
    void start_hanging(const std::string& name);
    void release_hanging();
    // Look-ups that hang now.
    [[nodiscard]] std::size_t hanging_lookups() const;
    [[nodiscard]] std::size_t lookup_count(const std::string& name) const;
};

}  // namespace chaos
