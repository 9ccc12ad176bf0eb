// A fork'd child has copies of its parent's handles and must not act on them.
#pragma once

#include <cstdint>

namespace pawl::core {

// Counts the forks between the program's start and this process. Cheap: no system call.
[[nodiscard]] std::uint32_t fork_generation() noexcept;

}  // namespace pawl::core
