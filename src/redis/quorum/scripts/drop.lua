-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- drop: takes the lock from the holder with this value, notifies it, and wakes the next waiter.
-- KEYS lock queue   ARGV value channel_prefix name   -> 1 | 0 the lock has another value, or none
--@include _line.lua
if redis.call("GET", KEYS[1]) ~= ARGV[1] then
    return 0
end
redis.call("DEL", KEYS[1])
local owner, client = string.match(ARGV[1], "^(%x+);(%x+);")
if owner then
    redis.call("PUBLISH", ARGV[2] .. client, "lost " .. owner)
end
wake_next(KEYS[2], ARGV[2], ARGV[3])
return 1
