// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// For a static object that must outlive every other static one: a static event loop, whose clients
// still use it, may end last. It needs no memory from the heap, so making it cannot fail.
#pragma once

namespace pawl::core {

template <class Value>
union never_destroyed {
    never_destroyed() : value() {}
    ~never_destroyed() {}
    never_destroyed(const never_destroyed&) = delete;
    never_destroyed& operator=(const never_destroyed&) = delete;

    Value value;
};

}  // namespace pawl::core
