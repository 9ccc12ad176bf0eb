-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- Begins the next generation. The first one of a new latch is numbered by the clock, in 1/65536 s
-- since 2024, above every earlier number.
local function begin_generation(latch, count, parties, ttl)
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

-- The server executes a request only while its clock is between `since_ms` and `limit_ms`. It
-- remembers the request somewhat longer, since the clock may be set back a little. A time before
-- `since_ms` means that the clock was set back by more, so an executed request may be forgotten.
-- -> the reply to a request at any other time; false in time
local function late_reply(limit_ms, since_ms)
    local now = redis.call("TIME")
    local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
    local is_in_time = now_ms <= tonumber(limit_ms) and now_ms >= tonumber(since_ms)
    return not is_in_time and {"late", string.format("%.0f", now_ms)}
end

local function remember_reply(request, answer, limit_ms)
    redis.call("SET", request, answer, "PXAT", string.format("%.0f", limit_ms + 10000))
end

-- The server's refusal of what a step may write, or nothing. `publish`: with the channel behind it.
local function refusal_of_steps(latch, request, publish)
    local commands = {
        "HSET", latch, "HEXISTS", latch, "HINCRBY", latch, "PEXPIRE", latch, "SET", request,
        "DEL", request,
    }
    if publish then
        commands[#commands + 1], commands[#commands + 2] = publish[1], publish[2]
    end
    return not may_all(commands) and redis.error_reply("NOPERM the user has no rights for latches")
end
