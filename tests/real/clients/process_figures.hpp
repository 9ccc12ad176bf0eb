// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a process uses, as the kernel says it.
#pragma once

#include <cstddef>
#include <optional>

#include <sys/types.h>

namespace real {

struct process_figures {
    std::size_t resident_bytes = 0;
    std::size_t descriptors = 0;  // that are open
};

// Empty: there is no such process.
[[nodiscard]] std::optional<process_figures> figures_of(pid_t process);

}  // namespace real
