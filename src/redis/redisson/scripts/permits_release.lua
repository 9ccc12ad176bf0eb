-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- permits_release: returns the permits that are still lent to the hold, and publishes the number of
-- free ones.
-- KEYS free lent_permits [unlock_latch]
-- ARGV hold publish_command channel unlock_latch_ms wait_ms (unused) tagged (unused) permits
-- -> 1 all released | 0 some or all had expired
--@include _clock.lua
--@include _permits.lua
if KEYS[3] and redis.call("GET", KEYS[3]) then
    return 1
end
local now, count, returned, in_time = now_ms(), tonumber(ARGV[7]), 0, 0
for i = 1, count do
    local id = id_of(ARGV[1], i)
    local lent_until = tonumber(redis.call("ZSCORE", KEYS[2], id) or 0)
    returned = returned + redis.call("ZREM", KEYS[2], id)
    in_time = in_time + (lent_until > now and 1 or 0)
end
if returned > 0 and redis.call("EXISTS", KEYS[1]) == 1 then
    local free = redis.call("INCRBY", KEYS[1], returned)
    if free > 0 then
        redis.call(ARGV[2], ARGV[3], free)
    end
end
if in_time < count then
    return 0
end
if KEYS[3] then
    redis.call("SET", KEYS[3], "1", "PX", ARGV[4])
end
return 1
