-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- KEYS lock fence queue waiters holders details
local k = {
    lock = KEYS[1],
    fence = KEYS[2],
    queue = KEYS[3],
    waiters = KEYS[4],
    holders = KEYS[5],
    details = KEYS[6],
}
