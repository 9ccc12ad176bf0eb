// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A fork of the test that runs short of a resource, so that the test does not.
#pragma once

#include <functional>
#include <string>

namespace support {

// Returns the result of `work`, or the message of its exception, from a forked child.
[[nodiscard]] std::string run_in_child(const std::function<std::string()>& work);

// From now on this process can start no thread; it has no root privileges any more.
void forbid_threads();
void allow_threads();

// From now on this process can open no descriptor.
void forbid_descriptors();

// The signals that the calling thread has blocked.
[[nodiscard]] std::string blocked_signals();

}  // namespace support
