-- fair_release: gives the lock back, or leaves the line, and tells the first in line.
-- KEYS lock queue timeouts seen [latch]   ARGV owner verb channel latch_ms wait_ms
-- -> 1 released | 0 gone | 2 somebody else's
--@include _clock.lua
--@include _line.lua
if KEYS[5] and redis.call("GET", KEYS[5]) then
    return 1
end
local at = redis.call("LPOS", KEYS[2], ARGV[1])
if at then
    local behind = redis.call("LRANGE", KEYS[2], at + 1, -1)
    -- First what needs no memory: then a server that has none does not refuse the rest.
    redis.call("LREM", KEYS[2], 0, ARGV[1])
    redis.call("ZREM", KEYS[3], ARGV[1])
    redis.call("ZREM", KEYS[4], ARGV[1])
    for _, other in ipairs(behind) do
        if other ~= ARGV[1] then
            redis.call("ZINCRBY", KEYS[3], -ARGV[5], other)
        end
    end
end
local mine = redis.call("HEXISTS", KEYS[1], ARGV[1]) == 1
if mine then
    redis.call("DEL", KEYS[1])
end
local held = redis.call("EXISTS", KEYS[1])
local head = purge(KEYS[2], KEYS[3], KEYS[4], now_ms())
-- Also where it had run out, and where one leaves who was told already.
if held == 0 and head then
    redis.call(ARGV[2], ARGV[3] .. ":" .. head, "0")
end
if not mine then
    return held * 2
end
if KEYS[5] then
    redis.call("SET", KEYS[5], "1", "PX", ARGV[4])
end
return 1
