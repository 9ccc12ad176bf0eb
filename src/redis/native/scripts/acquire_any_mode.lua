-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- acquire_any_mode: acquire for readers, permits and `fair`; never takes the lock past the queue.
-- KEYS lock fence queue waiters holders details
-- ARGV value ttl_ms floor('' = the caller wants no token) waiter('' = do not wait) value_prefix
--      claim_window_ms place_ms(until the waiter's place in the queue ends) channel_prefix
--      waiters_floor(for grants to waiters, never '') mode total_permits(0 = the stored total) run
-- -> {1, token} | {0, ms the lock has left}
--    | {0, ms until a change, server's ms, rank(0 = first)} the waiter is queued
--    | {2, n} the total n is too small | {3, n} another total n is stored | {4} no total is stored
--@include _token.lua
--@include _clock.lua
--@include _keys.lua
--@include _rights.lua
--@include _holders.lua
--@include _grant_waiters.lua
--@include _enqueue_waiter.lua
--@include _next_change_in.lua
local mode, now = ARGV[10], now_ms()
local refusal = mode ~= "x" and refusal_of_holders(k)
if refusal then
    return refusal
end
local state = current_state(k, now)
local permits = tonumber(string.match(mode, "^p(%d+)$"))
if permits then
    local n = total_permits(k, ARGV[11])
    if n == 0 then
        return {4}
    elseif ARGV[11] ~= "0" and tonumber(ARGV[11]) ~= n then
        return {3, n}
    elseif permits > n then
        return {2, n}
    end
end
state = grant_waiters(k, state, ARGV[9], ARGV[8])
if redis.call("ZCARD", k.queue) == 0 and can_be_granted(k, state, mode) then
    if mode ~= "x" then
        local owner = owner_of(ARGV[1])
        local token = add_holder(k, state, mode, owner, ARGV[1], ARGV[2], ARGV[3], now)
        return token and {1, token} or redis.error_reply("OOM no memory for another holder")
    end
    redis.call("SET", k.lock, ARGV[1], "PX", ARGV[2])
    return {1, ARGV[3] ~= "" and next_token(k.fence, ARGV[3]) or "0"}
end
if ARGV[4] == "" then
    return {0, redis.call("PTTL", k.lock)}
end
local position = enqueue_waiter(k, ARGV[4], ARGV[5], ARGV[6], ARGV[7], mode)
position[2] = next_change_in(k, state, ARGV[4], now)
return position
