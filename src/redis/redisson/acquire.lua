-- acquire: takes the lock, and the next token where its counter is named, if nobody has it.
-- KEYS lock [counter]   ARGV owner ttl_ms   -> {1, token} | {0, ms left}
--@include _lock.lua
if redis.call("HLEN", KEYS[1]) == 0 then
    local token = KEYS[2] and redis.call("INCR", KEYS[2]) or 0
    redis.call("HINCRBY", KEYS[1], ARGV[1], 1)
    redis.call("PEXPIRE", KEYS[1], ARGV[2])
    return {1, token}
end
local left = redis.call("PTTL", KEYS[1])
-- A lock always has an end: nobody must wait for a hash of another program.
if left < 0 and not holder_of(KEYS[1]) then
    return no_lock()
end
return {0, left}
