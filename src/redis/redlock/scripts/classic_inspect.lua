-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- classic_inspect: the holder of a lock at this node.
-- KEYS lock queue   ARGV layout   -> {value or nil, ms until it expires, waiters}
--@include _classic.lua
local value = value_of(KEYS[1])
return {value and string.sub(value, 1, 4096) or false, redis.call("PTTL", KEYS[1]),
    redis.call("ZCARD", KEYS[2])}
