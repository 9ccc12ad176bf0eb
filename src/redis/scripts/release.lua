-- release: gives the lock back: to the heir (a waiter of the caller's own process), to the first
-- live waiter, or to nobody. With `turn` = 1 other processes' waiters go before the heir.
-- KEYS lock fence queue waiters
-- ARGV value floor channel_prefix heir('' = none) heir_value heir_ttl_ms turn
-- -> {1} released | {1, token} released to the heir | {0} gone | {2} somebody else's
--@include _token.lua
--@include _clock.lua
--@include _pass_on.lua
local lock, fence, queue, waiters = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local value = redis.call("GET", lock)
if value ~= ARGV[1] then
    return {value and 2 or 0}
end
local heir = ARGV[4]
if heir ~= "" then
    local others = redis.call("ZCARD", queue) - (redis.call("ZSCORE", queue, heir) and 1 or 0)
    if ARGV[7] == "0" or others == 0 then
        redis.call("ZREM", queue, heir)
        redis.call("HDEL", waiters, heir)
        redis.call("SET", lock, ARGV[5], "PX", ARGV[6])
        return {1, next_token(fence, ARGV[2])}
    end
end
pass_on(lock, fence, queue, waiters, ARGV[2], ARGV[3])
return {1}
