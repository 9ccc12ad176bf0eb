-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- release: releases the lock: to the successor (a waiter of the caller's own client), to the first
-- live waiters, or to nobody. With `queue_first` = 1, and if any other waiter is queued, the queue
-- decides, and the successor has no precedence.
-- KEYS lock fence queue waiters holders details
-- ARGV value floor channel_prefix [successor successor_value successor_ttl_ms queue_first] run
-- -> 1 released | {1, token} released to the successor | 0 gone | 2 another holder's
local value = redis.call("GET", KEYS[1])
if value ~= ARGV[1] then
    return value and 2 or 0
end
-- Without waiters, which is the usual case, the functions below are not even created.
local has_successor = #ARGV > 4
if not has_successor and redis.call("EXISTS", KEYS[3]) == 0 then
    redis.call("DEL", KEYS[1])
    return 1
end
--@include _token.lua
--@include _clock.lua
--@include _keys.lua
--@include _rights.lua
--@include _holders.lua
--@include _grant_waiters.lua
if has_successor then
    local successor = ARGV[4]
    local is_queued = redis.call("ZSCORE", k.queue, successor)
    local others = redis.call("ZCARD", k.queue) - (is_queued and 1 or 0)
    if ARGV[7] == "0" or others == 0 then
        local removed = redis.call("ZREM", k.queue, successor)
        redis.call("HDEL", k.waiters, successor)
        hurry_near_waiters(k, removed, ARGV[3], now_ms())
        -- The first waiter knows only the end of the released lease, and the new one ends earlier.
        local first = redis.call("ZRANGE", k.queue, 0, 0)[1]
        if first and redis.call("PTTL", k.lock) > tonumber(ARGV[6]) then
            ask_to_refresh(ARGV[3], first)
        end
        redis.call("SET", k.lock, ARGV[5], "PX", ARGV[6])
        return {1, next_token(k.fence, ARGV[2])}
    end
end
-- No DEL: grant_waiters overwrites or deletes the lock's key.
grant_waiters(k, "free", ARGV[2], ARGV[3])
return 1
