// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// User and password for a service. A plain value: do not change an object while another thread
// reads it.
#pragma once

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error "Pawl needs C++20: compile with -std=c++20"
#endif

#include <string>

namespace pawl {

// A user and a password.
struct login {
    std::string user{};      // empty: that of the options, or the server's default user
    std::string password{};  // empty: none

    bool operator==(const login&) const = default;
};

}  // namespace pawl
