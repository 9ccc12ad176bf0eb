// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The verbs of latches; the same as in Latches.java.
#pragma once

#include <pawl/blocking.hpp>

#include <sstream>
#include <string>

namespace interop {

// Empty: the verb is not a latch's.
[[nodiscard]] std::string execute_latch_command(pawl::blocking::client& locks,
                                                const std::string& verb, const std::string& name,
                                                std::istream& arguments);

}  // namespace interop
