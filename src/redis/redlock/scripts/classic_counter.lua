-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- classic_counter: whether somebody has the lock; a node without a set has no counter.
-- KEYS lock   -> {1, "0", 1 held | 0 free}
return {1, "0", redis.call("EXISTS", KEYS[1])}
