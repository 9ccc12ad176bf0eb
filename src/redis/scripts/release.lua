-- release: gives the lock back: to the heir (a waiter of the caller's own process), to the first
-- live waiters, or to nobody. With `turn` = 1 other processes' waiters go before the heir.
-- KEYS lock fence queue waiters holders details
-- ARGV value floor channel_prefix heir('' = none) heir_value heir_ttl_ms turn run
-- -> {1} released | {1, token} released to the heir | {0} gone | {2} somebody else's
local value = redis.call("GET", KEYS[1])
if value ~= ARGV[1] then
    return {value and 2 or 0}
end
-- Nobody waits, which is most often so: done before the parts below are even made.
if ARGV[4] == "" and redis.call("EXISTS", KEYS[3]) == 0 then
    redis.call("DEL", KEYS[1])
    return {1}
end
--@include _token.lua
--@include _clock.lua
--@include _keys.lua
--@include _holders.lua
--@include _serve.lua
local heir = ARGV[4]
if heir ~= "" then
    local others = redis.call("ZCARD", k.queue) - (redis.call("ZSCORE", k.queue, heir) and 1 or 0)
    if ARGV[7] == "0" or others == 0 then
        redis.call("ZREM", k.queue, heir)
        redis.call("HDEL", k.waiters, heir)
        redis.call("SET", k.lock, ARGV[5], "PX", ARGV[6])
        return {1, next_token(k.fence, ARGV[2])}
    end
end
serve(k, "free", ARGV[2], ARGV[3])
return {1}
