// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// For flags that say that an operation runs.
#pragma once

namespace pawl::core {

// Sets a flag while it lives.
class flag_guard {
public:
    explicit flag_guard(bool& flag) noexcept : flag_(flag) { flag_ = true; }
    ~flag_guard() { flag_ = false; }
    flag_guard(const flag_guard&) = delete;
    flag_guard& operator=(const flag_guard&) = delete;

private:
    bool& flag_;
};

}  // namespace pawl::core
