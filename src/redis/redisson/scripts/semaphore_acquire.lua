-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- semaphore_acquire: takes permits that have no lease. The receipt allows the owner to return them
-- once; it lives for a day longer than `ttl_ms`. If the receipt exists already, the request was
-- undone before the server executed it.
-- KEYS free receipt [counter]   ARGV owner ttl_ms publish_command channel permits total_permits
-- -> {1, token} | {0, -1 (no lease ends)}
--@include _token.lua
--@include _free_permits.lua
local free, type_error = free_permits(KEYS[1])
if type_error then
    return type_error
end
if not free then
    if tonumber(ARGV[6]) == 0 then
        return redis.error_reply("NOPERMITS")
    end
    redis.call("SET", KEYS[1], ARGV[6])
    -- Java's acquire may wait for a semaphore that has no number of permits yet.
    redis.call(ARGV[3], ARGV[4], ARGV[6])
    free = tonumber(ARGV[6])
end
if free < tonumber(ARGV[5]) or redis.call("EXISTS", KEYS[2]) == 1 then
    return {0, -1}
end
local token, trouble = next_token_by_clock(KEYS[3])
if trouble then
    return trouble
end
redis.call("DECRBY", KEYS[1], ARGV[5])
redis.call("SET", KEYS[2], ARGV[5], "PX", ARGV[2] + 86400000)
return {1, token}
