-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- acquire: takes the lock exclusively if it is free; else enqueues the waiter, if one is named.
-- KEYS lock fence [queue waiters]   ARGV value ttl_ms floor("FLOOR KEEP_MS"; '' = no token)
--      [waiter value_prefix claim_window_ms place_ms(until its place in the queue ends)]
-- -> token | {0, ms the lock has left}
--    | {0, ms the lock has left, server's ms, rank(0 = first)} the waiter is queued
--@include _token.lua
if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
    return ARGV[3] ~= "" and next_token(KEYS[2], ARGV[3]) or "0"
end
-- The server refuses a key of another type here, before anything is written.
redis.call("GET", KEYS[1])
if not ARGV[4] then
    return {0, redis.call("PTTL", KEYS[1])}
end
--@include _enqueue_waiter.lua
local k = {lock = KEYS[1], queue = KEYS[3], waiters = KEYS[4]}
return enqueue_waiter(k, ARGV[4], ARGV[5], ARGV[6], ARGV[7], "x")
