-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- Removes waiters from the head of the queue whose place ended at least `place_ms` ago. The first
-- waiter must be alive even while the lock is held, because the server reports a release by another
-- library to that waiter. -> how many were removed
local function remove_expired_waiters(k, now, place_ms, channel)
    local removed = 0
    for _ = 1, 64 do
        local first = redis.call("ZRANGE", k.queue, 0, 0)[1]
        local record = first and redis.call("HGET", k.waiters, first) or ""
        local place_end = string.match(record, "^%d+")
        if not first then
            break
        end
        if place_end and place_end + place_ms > now then
            -- No place lasts 10 s, so this end was written before the server's clock was set back.
            if tonumber(place_end) > now + 10000 then
                hurry_waiter(k, first, place_end, string.sub(record, #place_end + 1), channel, now)
            end
            break
        end
        redis.call("ZREM", k.queue, first)
        redis.call("HDEL", k.waiters, first)
        removed = removed + 1
    end
    return removed
end
