-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- force_release: takes the object from all its holders and notifies the waiters. The holders are
-- not notified, because Redisson has no channel to them. With `expected`, only if the counter of
-- tokens has this value; permits have no token.
-- KEYS lock queue timeouts lent_permits presence counter
-- ARGV publish_command lock_channel rwlock_channel semaphore_channel expected ('' = any holder)
-- -> 1 | 0 nothing was released: nobody held the object, or the token is another one
--@include _lock.lua
--@include _clock.lua
--@include _queue.lua
local function return_permits()
    local free = redis.call("GET", KEYS[1])
    if not tonumber(free) then
        return no_lock_error()
    end
    local lent_permits = redis.call("ZCARD", KEYS[4])
    if lent_permits == 0 then
        return 0
    end
    redis.call("DEL", KEYS[4])
    free = redis.call("INCRBY", KEYS[1], lent_permits)
    if free > 0 then
        redis.call(ARGV[1], ARGV[4], free)
    end
    return 1
end

local type = redis.call("TYPE", KEYS[1]).ok
if type == "none" then
    return 0
elseif type == "string" then
    return ARGV[5] == "" and return_permits() or 0
elseif type ~= "hash" or not any_owner_of(KEYS[1]) then
    return no_lock_error()
end
if ARGV[5] ~= "" and redis.call("GET", KEYS[6]) ~= ARGV[5] then
    return 0
end
if redis.call("HEXISTS", KEYS[1], "mode") == 1 then
    redis.call("DEL", KEYS[1])
    redis.call(ARGV[1], ARGV[3], "1")
    redis.call(ARGV[1], ARGV[3], "0")
    return 1
end
redis.call("DEL", KEYS[1])
redis.call(ARGV[1], ARGV[2], "0")
local head = remove_absent(KEYS[2], KEYS[3], KEYS[5], now_ms())
if head then
    redis.call(ARGV[1], ARGV[2] .. ":" .. head, "0")
end
return 1
