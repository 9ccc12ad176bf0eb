// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Messages on stderr that never delay the lock. The reader of stderr may be a pager that waits for
// a key.
#pragma once

#include <pawl/types.hpp>

namespace pawl::cli {

// From now on, say() never waits for the reader of stderr. It keeps up to 100 lines for which there
// is no room, and counts the others.
void never_block_on_stderr() noexcept;

// Writes the kept lines for which there is room now. Returns true if none is left.
bool say_kept() noexcept;

// As say_kept, before the process ends: waits a few seconds in total for room.
void say_rest() noexcept;

}  // namespace pawl::cli
