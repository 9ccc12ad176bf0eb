// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How Pawl starts its threads.
#pragma once

#include <functional>
#include <thread>

namespace pawl::core {

// Starts a thread that handles none of the program's signals. The caller's signal mask is unchanged
// afterwards. Throws errc::exhausted if no thread can be started; `purpose` is part of the message.
[[nodiscard]] std::thread start_thread(const char* purpose, std::function<void()> work);

}  // namespace pawl::core
