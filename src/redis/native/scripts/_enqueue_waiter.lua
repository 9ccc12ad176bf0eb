-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- The keys of the queue outlive the longest place of a waiter: see `far_place_ms` in refresh.lua.
local queue_ms = 12000

-- Keeps the caller's place in the queue, or appends the caller. Its place ends after `place_ms`.
-- QUEUE: member -> when it entered, in µs. WAITERS: member -> its record,
-- "PLACE_END CLAIM_WINDOW MODE VALUE_PREFIX". A member is CLIENT:OWNER.
-- -> {0, ms the lock has left (negative: no end), server's ms, rank(0 = first)}
local function enqueue_waiter(k, member, value_prefix, claim_window_ms, place_ms, mode)
    local now = redis.call("TIME")
    local ms = now[1] * 1000 + math.floor(now[2] / 1000)
    local was_added = redis.call("ZADD", k.queue, "NX", now[1] * 1000000 + now[2], member)
    local place_end = string.format("%.0f", ms + place_ms)
    local record = place_end .. " " .. claim_window_ms .. " " .. mode .. " " .. value_prefix
    redis.call("HSET", k.waiters, member, record)
    redis.call("PEXPIRE", k.queue, queue_ms)
    redis.call("PEXPIRE", k.waiters, queue_ms)
    local rank = redis.call("ZRANK", k.queue, member)
    if was_added == 1 and rank < redis.call("ZCARD", k.queue) - 1 then
        -- The clock was set back. Earlier waiters still go first.
        local last = redis.call("ZRANGE", k.queue, -1, -1, "WITHSCORES")[2]
        redis.call("ZADD", k.queue, string.format("%.0f", last + 1), member)
        rank = redis.call("ZRANK", k.queue, member)
    end
    return {0, redis.call("PTTL", k.lock), string.format("%.0f", ms), rank}
end
