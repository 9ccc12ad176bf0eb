-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- latch_inspect: reads a latch.
-- KEYS latch   -> {count, generation, first, parties, ms until it is forgotten} | false
local state = redis.call("HMGET", KEYS[1], "count", "generation", "first", "parties")
if not state[1] then
    return false
end
state[5] = redis.call("PTTL", KEYS[1])
return state
