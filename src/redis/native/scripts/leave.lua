-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- leave: undoes an acquire whose outcome is unknown, or a wait that was given up. Removes the
-- waiter from the queue. Ends its hold, if it has one, and passes the lock on; but does not end a
-- hold with the value `kept`.
-- KEYS lock fence queue waiters holders details
-- ARGV floor channel_prefix waiter value_prefix kept('' = nothing) run
-- -> 1 a hold was ended | 0 none
--@include _token.lua
--@include _clock.lua
--@include _keys.lua
--@include _rights.lua
--@include _holders.lua
--@include _grant_waiters.lua
local removed = redis.call("ZREM", k.queue, ARGV[3])
redis.call("HDEL", k.waiters, ARGV[3])
hurry_near_waiters(k, removed, ARGV[2], now_ms())
local own_prefix = ARGV[4] .. ";"
local value = redis.call("GET", k.lock)
if value and string.sub(value, 1, #own_prefix) == own_prefix then
    if value == ARGV[5] then
        return 0
    end
    grant_waiters(k, "free", ARGV[1], ARGV[2])
    return 1
end
local state = current_state(k, now_ms())
if state == "exclusive" then
    return 0
end
local owner = owner_of(ARGV[4])
local record = state ~= "free" and redis.call("HGET", k.details, owner)
local was_granted = record and string.match(record, "^%d+ %d+ (.*)$") ~= ARGV[5]
if was_granted and remove_holder(k, owner) then
    state = "free"
end
-- Waiters behind the removed one may be granted the lock now.
grant_waiters(k, state, ARGV[1], ARGV[2])
return was_granted and 1 or 0
