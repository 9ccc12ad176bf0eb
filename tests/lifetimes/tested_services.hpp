// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Each kind of service, with real servers, and the faults of its servers.
#pragma once

#include "program.hpp"

#include <memory>
#include <string>
#include <vector>

namespace lifetimes {

class tested_service {
public:
    tested_service() = default;
    tested_service(const tested_service&) = delete;
    tested_service& operator=(const tested_service&) = delete;
    virtual ~tested_service() = default;
    [[nodiscard]] virtual pawl::service service() = 0;
    // During a program.
    virtual void disturb(choices&) {}
    // After a program: all servers run again.
    virtual void repair() {}
};

struct service_kind {
    std::string name;
    std::function<std::unique_ptr<tested_service>()> make;
};
inline void PrintTo(const service_kind& kind, std::ostream* out) { *out << kind.name; }

[[nodiscard]] std::vector<service_kind> all_service_kinds();

}  // namespace lifetimes
