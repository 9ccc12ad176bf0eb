// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Where a command writes its reply, piece by piece: into a reply of a client, or into Lua.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pawl::simulation {

class reply_sink {
public:
    virtual ~reply_sink() = default;
    virtual void nil() = 0;
    virtual void integer(std::int64_t number) = 0;
    virtual void bulk(std::string_view text) = 0;
    virtual void status(std::string_view text) = 0;
    // The next `count` replies are the items of an array.
    virtual void array(std::size_t count) = 0;
};

}  // namespace pawl::simulation
