-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- Removes waiters from the head of the queue whose lease ended at least `lease` ms ago. The first
-- waiter must be alive even while the lock is held, because the server reports a release by another
-- library to that waiter. -> true: some were removed
local function remove_expired_waiters(k, now, lease, channel)
    local removed_any = false
    for _ = 1, 64 do
        local first = redis.call("ZRANGE", k.queue, 0, 0)[1]
        local record = first and redis.call("HGET", k.waiters, first) or ""
        local lease_end = string.match(record, "^%d+")
        if not first then
            break
        end
        if lease_end and lease_end + lease > now then
            -- A lease of more than 10 s was written before the server's clock was set back.
            if tonumber(lease_end) > now + 10000 then
                hurry_waiter(k, first, lease_end, string.sub(record, #lease_end + 1), channel, now)
            end
            break
        end
        redis.call("ZREM", k.queue, first)
        redis.call("HDEL", k.waiters, first)
        removed_any = true
    end
    return removed_any
end
