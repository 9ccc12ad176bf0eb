-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- latch_inspect: reads a latch.
-- KEYS latch   -> {count, generation, first, parties, ms until it is forgotten} | false
local state = redis.call("HMGET", KEYS[1], "count", "generation", "first", "parties")
if not state[1] then
    return false
end
-- Another program's hash may have the same fields.
for i = 1, 4 do
    state[i] = state[i] and string.sub(state[i], 1, 64)
end
state[5] = redis.call("PTTL", KEYS[1])
return state
