-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- permits_acquire: takes all the requested permits, or none. `total_permits` is 0 if the caller
-- names no total.
-- KEYS free lent_permits [counter]   ARGV hold ttl_ms publish_command channel permits total_permits
-- -> {1, token} | {0, ms until the first lent permit expires (-1: never)}
--@include _token.lua
--@include _clock.lua
--@include _permits.lua
--@include _free_permits.lua
local count, total, now = tonumber(ARGV[5]), tonumber(ARGV[6]), now_ms()
local known, type_error = free_permits(KEYS[1])
if type_error then
    return type_error
end
reclaim(KEYS[1], KEYS[2], now, ARGV[3], ARGV[4])
local lent_permits = redis.call("ZCARD", KEYS[2])
if not known then
    if total == 0 then
        return redis.error_reply("NOPERMITS")
    end
    redis.call("SET", KEYS[1], total - lent_permits)
    -- Java's acquire may wait for a semaphore that has no number of permits yet.
    if total > lent_permits then
        redis.call(ARGV[3], ARGV[4], total - lent_permits)
    end
end
local free = tonumber(redis.call("GET", KEYS[1]))
if total ~= 0 and total ~= free + lent_permits then
    return redis.error_reply("OTHERCOUNT " .. free + lent_permits)
end
if count > free + lent_permits then
    return redis.error_reply("TOOMANY " .. free + lent_permits)
end
if free < count then
    local first = tonumber(redis.call("ZRANGE", KEYS[2], 0, 0, "WITHSCORES")[2] or never)
    return {0, first < never and first - now or -1}
end
local token, trouble = next_token_by_clock(KEYS[3])
if trouble then
    return trouble
end
redis.call("DECRBY", KEYS[1], count)
for i = 1, count do
    redis.call("ZADD", KEYS[2], now + ARGV[2], id_of(ARGV[1], i))
end
local ttl = redis.call("PTTL", KEYS[1])
if ttl > 0 then
    redis.call("PEXPIRE", KEYS[2], ttl)
end
return {1, token}
