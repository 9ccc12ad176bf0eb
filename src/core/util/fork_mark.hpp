// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The child of a fork has copies of its parent's handles and must not use them.
#pragma once

#include <pawl/error.hpp>

#include <cstdint>

namespace pawl::core {

// The number of forks between the program's start and this process. Makes no system call.
[[nodiscard]] std::uint32_t fork_generation() noexcept;

// Detects that it was made in an ancestor of this process.
class fork_mark {
public:
    [[nodiscard]] bool is_forked() const noexcept { return generation_ != fork_generation(); }
    // Throws `forked_client_error`.
    void throw_if_forked() const;

private:
    std::uint32_t generation_ = fork_generation();
};

// The error for a request to a client of the parent process.
[[nodiscard]] error forked_client_error();

}  // namespace pawl::core
