-- The next generation; the first one since the latch is there starts from the clock, 1/65536 s
-- since 2024, above all that was ever numbered.
local function begin(latch, count, parties, ttl)
    if redis.call("HEXISTS", latch, "generation") == 1 then
        redis.call("HINCRBY", latch, "generation", 1)
    else
        local now = redis.call("TIME")
        local seed = (now[1] - 1704067200) * 65536 + math.floor(now[2] * 65536 / 1000000)
        local first = string.format("%.0f", seed)
        redis.call("HSET", latch, "generation", first, "first", first)
    end
    redis.call("HSET", latch, "count", count, "parties", parties, "ttl", ttl)
    redis.call("PEXPIRE", latch, ttl)
end
