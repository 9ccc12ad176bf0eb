-- force: takes the lock from whoever holds it and tells who waits. The victim is not told: Redisson
-- has no channel to it.
-- KEYS lock   ARGV channel   -> 1 | 0 nobody had it
--@include _lock.lua
if redis.call("HLEN", KEYS[1]) == 0 then
    return 0
end
if not holder_of(KEYS[1]) then
    return no_lock()
end
redis.call("DEL", KEYS[1])
redis.call("PUBLISH", ARGV[1], "0")
return 1
