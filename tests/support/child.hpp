// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Runs a part of a test in a forked child that is short of a resource; the test itself is not.
#pragma once

#include <functional>
#include <string>

namespace support {

// Runs `work` in a forked child. Returns its result, or "threw: " and the message of its exception,
// or "died of signal " and the number.
[[nodiscard]] std::string run_in_child(const std::function<std::string()>& work);

// From now on this process can start no thread. If it was root, it gives up root privileges for
// good: the limit does not apply to root.
void forbid_threads();
// Lifts that limit. Root privileges do not come back.
void allow_threads();

// From now on this process can open no descriptor, for good. Open descriptors stay open.
void forbid_descriptors();

// The signals that the calling thread has blocked.
[[nodiscard]] std::string blocked_signals();

}  // namespace support
