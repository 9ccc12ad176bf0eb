-- resize: how many permits there are from now on; fewer than are lent leave a negative rest.
-- KEYS free lent   ARGV permits verb channel   -> 1
--@include _free.lua
local _, other = free_in(KEYS[1])
if other then
    return other
end
local free = ARGV[1] - redis.call("ZCARD", KEYS[2])
redis.call("SET", KEYS[1], free, "KEEPTTL")
if free > 0 then
    redis.call(ARGV[2], ARGV[3], free)
end
return 1
