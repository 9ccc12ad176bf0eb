-- permits_release: gives back what is still lent to the hold, and tells how many are free.
-- KEYS free lent [latch]   ARGV hold verb channel latch_ms wait_ms tagged permits
-- -> 1 all released | 0 some or all were over
--@include _clock.lua
--@include _permits.lua
if KEYS[3] and redis.call("GET", KEYS[3]) then
    return 1
end
local now, count, back, in_time = now_ms(), tonumber(ARGV[7]), 0, 0
for i = 1, count do
    local id = id_of(ARGV[1], i)
    local over = tonumber(redis.call("ZSCORE", KEYS[2], id) or 0)
    back = back + redis.call("ZREM", KEYS[2], id)
    in_time = in_time + (over > now and 1 or 0)
end
if back > 0 and redis.call("EXISTS", KEYS[1]) == 1 then
    local free = redis.call("INCRBY", KEYS[1], back)
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
