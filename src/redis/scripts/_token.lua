-- The next token: the counter one up, never below the server's clock in 1/65536 s since 2024, and
-- above the floor. So none is given twice where the server went back to older data. `floor` is
-- "FLOOR KEEP_MS": above what tokens are, and for how long a counter is kept that nobody uses. One
-- that is ahead of the clock is kept until the clock is past it, and as long again.
local function next_token(fence, floor)
    local lowest, keep_ms = string.match(floor, "^(%d+) (%d+)$")
    local token = redis.call("INCR", fence)
    local now = redis.call("TIME")
    local clock = (now[1] - 1704067200) * 65536 + math.floor(now[2] * 65536 / 1000000)
    local least = math.max(clock, lowest + 1)
    local ahead_ms = math.floor((math.max(token, least) - clock) / 65.536)
    local kept_ms = string.format("%.0f", keep_ms + ahead_ms)
    if token < least then
        local text = string.format("%.0f", least)
        redis.call("SET", fence, text, "PX", kept_ms)
        return text
    end
    -- Lua rounds above 2^53, the counter does not.
    redis.call("PEXPIRE", fence, kept_ms)
    return redis.call("GET", fence)
end
