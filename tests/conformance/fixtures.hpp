// The backends of this project as the conformance suite wants to see them.
#pragma once

#include <pawl/conformance.hpp>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace tested {

struct backend {
    std::string name;
    std::shared_ptr<pawl::conformance::fixture> fixture;
};

inline void PrintTo(const backend& one, std::ostream* out) { *out << one.name; }

[[nodiscard]] std::vector<backend> all_backends();

}  // namespace tested
