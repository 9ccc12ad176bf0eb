// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a caller of the supervisor does around the command, while the lock is held.
#pragma once

#include <pawl/types.hpp>

namespace pawl::cli {

// Each may wait for a while; the lock is renewed meanwhile.
class run_hooks {
public:
    virtual ~run_hooks() = default;
    // The lock is held, and the command is about to start. False: it must not.
    [[nodiscard]] virtual bool may_begin(fencing_token token) = 0;
    // After may_begin: the command was not started after all.
    virtual void withdraw() = 0;
    // After may_begin: the command has ended with the status, or could not be executed.
    virtual void end(int status, bool is_lock_lost) = 0;
};

}  // namespace pawl::cli
