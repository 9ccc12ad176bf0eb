-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- The time in ms until something may change for the waiter `member`: until the lock's lease ends
-- (negative: never). With non-exclusive holders: until the first of their leases ends, or the place
-- of the first waiter, which may be dead.
local function next_change_in(k, state, member, now)
    local is_non_exclusive = state ~= "free" and state ~= "exclusive"
    local soonest = is_non_exclusive and redis.call("ZRANGE", k.holders, 0, 0, "WITHSCORES")[2]
    if not soonest then
        return redis.call("PTTL", k.lock)
    end
    soonest = tonumber(soonest)
    local first = redis.call("ZRANGE", k.queue, 0, 0)[1]
    if first and first ~= member then
        local place_end = string.match(redis.call("HGET", k.waiters, first) or "", "^%d+")
        soonest = math.min(soonest, tonumber(place_end or now))
    end
    return math.max(soonest - now, 0)
end
