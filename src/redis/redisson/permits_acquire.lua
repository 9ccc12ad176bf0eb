-- permits_acquire: takes all the permits that are asked for, or none.
-- KEYS free lent [counter]   ARGV hold ttl_ms verb channel permits of
-- -> {1, token} | {0, ms until one comes back by itself, -1 never}
--@include _token.lua
--@include _clock.lua
--@include _permits.lua
--@include _free.lua
local count, of, now = tonumber(ARGV[5]), tonumber(ARGV[6]), now_ms()
local said, other = free_in(KEYS[1])
if other then
    return other
end
reclaim(KEYS[1], KEYS[2], now, ARGV[3], ARGV[4])
local lent = redis.call("ZCARD", KEYS[2])
if not said then
    if of == 0 then
        return redis.error_reply("NOPERMITS")
    end
    redis.call("SET", KEYS[1], of - lent)
end
local free = tonumber(redis.call("GET", KEYS[1]))
if of ~= 0 and of ~= free + lent then
    return redis.error_reply("OTHERCOUNT " .. free + lent)
end
if count > free + lent then
    return redis.error_reply("TOOMANY " .. free + lent)
end
if free < count then
    local first = tonumber(redis.call("ZRANGE", KEYS[2], 0, 0, "WITHSCORES")[2] or never)
    return {0, first < never and first - now or -1}
end
local token, trouble = next_token_by_clock(KEYS[3])
if trouble then
    return trouble
end
redis.call("DECRBY", KEYS[1], count)
for i = 1, count do
    redis.call("ZADD", KEYS[2], now + ARGV[2], id_of(ARGV[1], i))
end
local ttl = redis.call("PTTL", KEYS[1])
if ttl > 0 then
    redis.call("PEXPIRE", KEYS[2], ttl)
end
return {1, token}
