#pragma once

#include <pawl/backend.hpp>

namespace pawl::core {

// This process, for `pawl status`; `command` overrides the program's name.
[[nodiscard]] identity who_am_i(const std::string& command);

}  // namespace pawl::core
