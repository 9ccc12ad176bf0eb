-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- inspect: the holder of a lock at this node.
-- KEYS lock fence queue   -> {value or nil, ms until it expires, counter or '0', waiters}
local value = redis.pcall("GET", KEYS[1])
if type(value) == "table" then
    value = ""
end
return {value, redis.call("PTTL", KEYS[1]), redis.call("GET", KEYS[2]) or "0",
    redis.call("ZCARD", KEYS[3])}
