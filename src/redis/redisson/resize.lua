-- resize: how many permits there are from now on; fewer than are lent leave a negative rest.
-- KEYS free lent   ARGV permits verb channel   -> 1
local said = redis.call("GET", KEYS[1])
if said and not tonumber(said) then
    return redis.error_reply("WRONGTYPE the key is no semaphore of Redisson")
end
local free = ARGV[1] - redis.call("ZCARD", KEYS[2])
redis.call("SET", KEYS[1], free, "KEEPTTL")
if free > 0 then
    redis.call(ARGV[2], ARGV[3], free)
end
return 1
