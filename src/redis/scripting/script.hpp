// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A Lua script as cmake/embed_scripts.cmake embeds it. The scripts are in the folders
// `scripts` of src/redis/native, src/redis/redisson and src/redis/redlock.
#pragma once

#include <string_view>

namespace pawl::redis {

struct script {
    std::string_view name;  // the file's name without ".lua"
    std::string_view text;
    std::string_view sha1;  // of `text`, in hex, for EVALSHA
};

}  // namespace pawl::redis
