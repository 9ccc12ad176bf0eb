-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- Compares decimal numbers of any size; Lua's own numbers round above 2^53. `b` is not negative.
local function is_less(a, b)
    return string.sub(a, 1, 1) == "-" or #a < #b or (#a == #b and a < b)
end

-- The next token of FencedLock's counter; 0 without a counter, for callers that want no token. If
-- the key is not a counter or the server has no memory: nil and an error, before any other write.
local function next_token(counter)
    local reply = counter and redis.pcall("INCR", counter) or 0
    if type(reply) ~= "table" then
        return counter and redis.call("GET", counter) or 0, nil
    end
    local is_other_type = string.find(reply.err, "WRONGTYPE", 1, true) or
        string.find(reply.err, "not an integer", 1, true)
    return nil, is_other_type and redis.error_reply("BADCOUNTER") or reply
end

-- For objects without a token in Java: at least the server's clock in units of 1/65536 s since
-- 2024, so that no token is given twice if the server restarts with older data.
local function next_token_by_clock(counter)
    local token, trouble = next_token(counter)
    if not counter or trouble then
        return token, trouble
    end
    local now = redis.call("TIME")
    local units = (now[1] - 1704067200) * 65536 + math.floor(now[2] * 65536 / 1000000)
    local clock = string.format("%.0f", math.max(units, 0))
    if is_less(token, clock) then
        redis.call("SET", counter, clock, "KEEPTTL")
        return clock, nil
    end
    return token, nil
end
