-- inspect: KEYS lock counter   ARGV channel
-- -> {owner | false, count, ms left, token | false, clients that listen for the release}
--@include _lock.lua
local owner = false
if redis.call("HLEN", KEYS[1]) > 0 then
    owner = holder_of(KEYS[1])
    if not owner then
        return no_lock()
    end
end
return {
    owner,
    owner and redis.call("HGET", KEYS[1], owner),
    redis.call("PTTL", KEYS[1]),
    redis.call("GET", KEYS[2]),
    redis.call("PUBSUB", "NUMSUB", ARGV[1])[2],
}
