// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What an operator does with the nodes of Redlock, in a helper process on a client's machine: this
// program cannot reach the servers' addresses.
#pragma once

#include <string>

namespace real {

// The helper: `pawl redlock init`, with --force if `force` is "force". Returns the exit status.
int begin_set(const std::string& url, const std::string& force);

}  // namespace real
