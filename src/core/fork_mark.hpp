// A fork'd child has copies of its parent's handles and must not act on them.
#pragma once

#include <pawl/error.hpp>

#include <cstdint>

namespace pawl::core {

// Counts the forks between the program's start and this process. Cheap: no system call.
[[nodiscard]] std::uint32_t fork_generation() noexcept;

// Knows the process in which it was made.
class fork_mark {
public:
    [[nodiscard]] bool forked() const noexcept { return generation_ != fork_generation(); }

private:
    std::uint32_t generation_ = fork_generation();
};

// The error for a request to a client of the parent.
[[nodiscard]] error client_of_parent();

}  // namespace pawl::core
