-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- fair_release: releases the lock, or leaves the queue, and notifies the first waiter. `wait_ms` as
-- in fair_acquire.
-- KEYS lock queue timeouts presence [unlock_latch]
-- ARGV owner publish_command channel unlock_latch_ms wait_ms
-- -> 1 released | 0 gone | 2 somebody else's
--@include _clock.lua
--@include _queue.lua
if KEYS[5] and redis.call("GET", KEYS[5]) then
    return 1
end
local at = redis.call("LPOS", KEYS[2], ARGV[1])
if at then
    local behind = redis.call("LRANGE", KEYS[2], at + 1, -1)
    -- With a first write that needs no memory, a server without memory accepts the other writes.
    redis.call("LREM", KEYS[2], 0, ARGV[1])
    redis.call("ZREM", KEYS[3], ARGV[1])
    redis.call("ZREM", KEYS[4], ARGV[1])
    for _, other in ipairs(behind) do
        if other ~= ARGV[1] then
            redis.call("ZINCRBY", KEYS[3], -ARGV[5], other)
        end
    end
end
local is_owner = redis.call("HEXISTS", KEYS[1], ARGV[1]) == 1
if is_owner then
    redis.call("DEL", KEYS[1])
end
local exists = redis.call("EXISTS", KEYS[1])
local head = remove_absent(KEYS[2], KEYS[3], KEYS[4], now_ms())
-- Needed also if the lock had expired, or if the leaving waiter had been notified already.
if exists == 0 and head then
    redis.call(ARGV[2], ARGV[3] .. ":" .. head, "0")
end
if not is_owner then
    return exists * 2
end
if KEYS[5] then
    redis.call("SET", KEYS[5], "1", "PX", ARGV[4])
end
return 1
