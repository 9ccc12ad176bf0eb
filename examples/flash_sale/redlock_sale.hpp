// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

namespace flash_sale {

// The sale with a lock in five private Redis servers, of which two are killed while it runs.
// Returns the exit status: 0 if all items were sold once.
int run_redlock_sale();

}  // namespace flash_sale
