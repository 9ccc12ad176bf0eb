// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A Lua script as cmake/embed_scripts.cmake embeds it.
#pragma once

#include <string_view>

namespace pawl::guard::redis {

struct script {
    std::string_view name;  // the file's name without ".lua"
    std::string_view text;
    std::string_view sha1;  // of `text`, in hex, for EVALSHA
};

}  // namespace pawl::guard::redis
