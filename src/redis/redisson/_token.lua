-- The counter of FencedLock, which stands still for callers that want no token. An error where it
-- holds something else, or where the server has no memory: before anything else is written.
local function next_token(counter)
    local token = counter and redis.pcall("INCR", counter) or 0
    if type(token) ~= "table" then
        return token, nil
    end
    local other = string.find(token.err, "WRONGTYPE", 1, true) or
        string.find(token.err, "not an integer", 1, true)
    return nil, other and redis.error_reply("BADCOUNTER") or token
end

-- Of objects that Java does not count: never below the server's clock, in 1/65536 s since 2024, so
-- that no token is given twice where the server went back to older data.
local function next_token_by_clock(counter)
    local token, trouble = next_token(counter)
    if not counter or trouble then
        return token, trouble
    end
    local now = redis.call("TIME")
    local clock = (now[1] - 1704067200) * 65536 + math.floor(now[2] * 65536 / 1000000)
    if token < clock then
        redis.call("SET", counter, string.format("%.0f", clock), "KEEPTTL")
        return clock, nil
    end
    return token, nil
end
