-- semaphore_acquire: takes permits that have no lease. The receipt says that they are ours to give
-- back, once; where it is there already, this was taken back before it was carried out.
-- KEYS free receipt [counter]   ARGV owner ttl_ms verb channel permits of
-- -> {1, token} | {0, -1}
--@include _token.lua
--@include _free.lua
local free, other = free_in(KEYS[1])
if other then
    return other
end
if not free then
    if tonumber(ARGV[6]) == 0 then
        return redis.error_reply("NOPERMITS")
    end
    redis.call("SET", KEYS[1], ARGV[6])
    free = tonumber(ARGV[6])
end
if free < tonumber(ARGV[5]) or redis.call("EXISTS", KEYS[2]) == 1 then
    return {0, -1}
end
local token, trouble = next_token_by_clock(KEYS[3])
if trouble then
    return trouble
end
redis.call("DECRBY", KEYS[1], ARGV[5])
redis.call("SET", KEYS[2], ARGV[5], "PX", ARGV[2] + 86400000)
return {1, token}
