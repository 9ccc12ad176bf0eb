-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- downgrade: makes an exclusive hold shared, with a new lease. A repeated call has the same result.
-- KEYS lock fence queue waiters holders details
-- ARGV value ttl_ms token('0' = none) floor channel_prefix run   -> 1 | 0 it is not the caller's
--@include _token.lua
--@include _clock.lua
--@include _keys.lua
--@include _rights.lua
--@include _holders.lua
--@include _grant_waiters.lua
local refusal = refusal_of_holders(k)
if refusal then
    return refusal
end
-- The server refuses a queue of another type here, before anything is written.
redis.call("ZCARD", k.queue)
redis.call("HEXISTS", k.waiters, "")
local now = now_ms()
local owner = owner_of(ARGV[1])
local state = current_state(k, now)
if state == "exclusive" and redis.call("GET", k.lock) == ARGV[1] then
    -- With this first write, a server without memory accepts the others: see `extend_holder`.
    delete_holders(k)
    redis.call("SET", k.lock, "pawl:shared", "PX", ARGV[2])
    redis.call("ZADD", k.holders, string.format("%.0f", now + ARGV[2]), owner)
    redis.call("HSET", k.details, owner, "1 " .. ARGV[3] .. " " .. ARGV[1], "used", 1)
    if ARGV[3] ~= "0" then
        keep_readers_token(k, ARGV[3], ARGV[4])
    end
    state = "shared"
elseif state ~= "shared" or not is_same_grant(holder_details(k, owner), ARGV[1]) then
    return 0
else
    extend_holder(k, owner, now, ARGV[2])
end
expire_with_last_holder(k)
grant_waiters(k, state, ARGV[4], ARGV[5])
return 1
