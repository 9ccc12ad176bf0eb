-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- fair_acquire: takes the lock if it is free and no other waiter is first; else enters the queue,
-- or stays there, if `wait_ms` is above 0. `wait_ms`: this waiter's own part of the timeouts.
-- `presence_ms`: how long the waiter counts as present.
-- KEYS lock queue timeouts presence [counter]
-- ARGV owner ttl_ms publish_command channel permits (unused) total_permits (unused) wait_ms
--     presence_ms
-- -> {1, token} | {0, ms that the lock has left (-1: no end; -2: free, another waiter is first)}
--@include _lock.lua
--@include _token.lua
--@include _clock.lua
--@include _queue.lua
local owner, wait, now = ARGV[1], tonumber(ARGV[7]), now_ms()
local fields, type_error = field_count(KEYS[1])
if type_error then
    return type_error
end
local is_held = fields > 0
local trouble = is_held and kind_error(KEYS[1], "lock")
if trouble then
    return trouble
end
if wait > 0 then
    redis.call("ZADD", KEYS[4], now + ARGV[8], owner)
    redis.call("PEXPIRE", KEYS[4], ARGV[8])
end
local head = remove_absent(KEYS[2], KEYS[3], KEYS[4], now)
if not is_held and (not head or head == owner) then
    local token, token_error = next_token(KEYS[5])
    if token_error then
        return token_error
    end
    redis.call("ZREM", KEYS[4], owner)
    if head then
        redis.call("LPOP", KEYS[2])
        redis.call("ZREM", KEYS[3], owner)
        -- The timeouts of the waiters behind no longer include this waiter's time.
        for _, other in ipairs(redis.call("ZRANGE", KEYS[3], 0, -1)) do
            redis.call("ZINCRBY", KEYS[3], -wait, other)
        end
    end
    redis.call("HINCRBY", KEYS[1], owner, 1)
    redis.call("PEXPIRE", KEYS[1], ARGV[2])
    return {1, token}
end
-- The first waiter may have been notified, and have left since.
if not is_held then
    redis.call(ARGV[3], ARGV[4] .. ":" .. head, "0")
end
local left = redis.call("PTTL", KEYS[1])
if wait > 0 then
    -- Each waiter that gets the lock subtracts its own time from the timeouts of all behind it. So
    -- this one adds that time for each waiter before it; for a waiter of Java's, Redisson's default
    -- of 300,000 ms. Pawl's waiters have a minus in their names. Java's tryLock adds almost nothing
    -- to the timeout before it, so the rest of the lease is added.
    local before, is_queued, java_waiters, pawl_waiters = nil, false, 0, 0
    for _, other in ipairs(redis.call("LRANGE", KEYS[2], 0, -1)) do
        if other == owner then
            is_queued = true
            break
        end
        before = other
        if string.find(other, ":-", 1, true) then
            pawl_waiters = pawl_waiters + 1
        else
            java_waiters = java_waiters + 1
        end
    end
    local earliest = now + math.max(left, 0) + java_waiters * 300000 + pawl_waiters * wait
    local base = before and tonumber(redis.call("ZSCORE", KEYS[3], before) or 0) or 0
    redis.call("ZADD", KEYS[3], math.max(base, earliest) + wait, owner)
    if not is_queued then
        redis.call("RPUSH", KEYS[2], owner)
    end
end
return {0, left}
