-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- refresh: a waiter's periodic request. Finds a grant whose message was lost, grants the lock where
-- a lease has expired, and keeps the waiter's place in the queue.
-- KEYS lock fence queue waiters holders details
-- ARGV floor channel_prefix waiter value_prefix claim_window_ms
--      place_ms(until the waiter's place in the queue ends)
--      first_place_ms(the same for the first waiter behind an exclusive holder)
--      far_place_ms(the same for a waiter that is not near the head) mode
--      total_permits(0 = the stored total) run
-- -> {1, token, since_ms, ms left} the caller holds it
--    | {0, ms until a change, server's ms, rank(0 = first), one of the three places}
--    | {2, n} the total n is too small | {4} no total is stored
--@include _token.lua
--@include _clock.lua
--@include _keys.lua
--@include _rights.lua
--@include _holders.lua
--@include _grant_waiters.lua
--@include _enqueue_waiter.lua
--@include _next_change_in.lua
--@include _remove_expired_waiters.lua
local floor, member, place_ms, mode = ARGV[1], ARGV[3], ARGV[6], ARGV[9]
local own_prefix = ARGV[4] .. ";"
local value = redis.call("GET", k.lock)
if value and string.sub(value, 1, #own_prefix) == own_prefix then
    local token = redis.call("GET", k.fence) or next_token(k.fence, floor)
    return {1, token, string.sub(value, #own_prefix + 1), redis.call("PTTL", k.lock)}
end
local now = now_ms()
local state = current_state(k, now)
local owner = owner_of(ARGV[4])
if state == "shared" or state == "permits" then
    local detail, ends_at = holder_details(k, owner)
    if detail then
        local token, since = string.match(detail, "^%d+ (%d+) .*;(%d+)$")
        return {1, token or "0", since or "0", ends_at - now}
    end
end
local permits = tonumber(string.match(mode, "^p(%d+)$"))
if permits then
    local n = total_permits(k, ARGV[10])
    if permits > n then
        local removed = redis.call("ZREM", k.queue, member)
        redis.call("HDEL", k.waiters, member)
        hurry_near_waiters(k, removed, ARGV[2], now)
        return n == 0 and {4} or {2, n}
    end
end
-- With this first write, a server without memory accepts the others: see `extend_holder`.
local rank = redis.call("ZRANK", k.queue, member)
if rank then
    redis.call("PEXPIRE", k.queue, queue_ms)
end
if rank == 0 and state == "exclusive" then
    place_ms = ARGV[7]
elseif rank and rank >= near_waiters then
    place_ms = ARGV[8]
end
local position = enqueue_waiter(k, member, ARGV[4], ARGV[5], place_ms, mode)
-- A far waiter does not serve the queue, unless nobody has the lock: the waiters near the head do.
if state == "free" or (state ~= "exclusive" and position[4] < near_waiters) then
    state = grant_waiters(k, state, floor, ARGV[2])
    position[2] = next_change_in(k, state, member, now)
else
    local removed = remove_expired_waiters(k, now, ARGV[6], ARGV[2])
    hurry_near_waiters(k, removed, ARGV[2], now)
end
position[4] = redis.call("ZRANK", k.queue, member) or 0
position[5] = place_ms
return position
