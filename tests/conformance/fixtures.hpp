// The backends of this project as the conformance suite wants to see them.
#pragma once

#include <pawl/conformance.hpp>

#include <memory>
#include <string>
#include <vector>

namespace tested {

struct backend {
    std::string name;
    std::shared_ptr<pawl::conformance::fixture> fixture;
};

[[nodiscard]] std::vector<backend> all_backends();

}  // namespace tested
