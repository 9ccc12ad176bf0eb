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

-- A request is carried out by its limit, of the server's clock, or never; and known until then, and
-- a while longer, since a clock may be set back a little. Where the time is before the request can
-- have begun, the clock was set back by more, and the server may have forgotten the request.
local function is_late(limit_ms, since_ms)
    local now = redis.call("TIME")
    local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
    local in_time = now_ms <= tonumber(limit_ms) and now_ms >= tonumber(since_ms)
    return not in_time and {"late", string.format("%.0f", now_ms)}
end

local function remember(request, answer, limit_ms)
    redis.call("SET", request, answer, "PXAT", string.format("%.0f", limit_ms + 10000))
end
