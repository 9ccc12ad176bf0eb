-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- FairLock's queue: a list of waiters, named as owners are, and a timeout for each. A first waiter
-- whose timeout has passed counts as gone. Behind Java's waiters a timeout is minutes away. So
-- Pawl's waiters, which have a minus in their names, refresh, and write into PRESENCE until when
-- they count as present. A dead or frozen waiter then counts as gone, too. A time in PRESENCE that
-- is later than any refresh can write is from before the clock was set back.
local function is_present(timeouts, presence, waiter, now)
    if tonumber(redis.call("ZSCORE", timeouts, waiter) or 0) <= now then
        return false
    end
    if not string.find(waiter, ":-", 1, true) then
        return true
    end
    local present_until = tonumber(redis.call("ZSCORE", presence, waiter) or 0)
    if present_until > now + 10000 then
        redis.pcall("ZADD", presence, now + 2000, waiter)
    end
    return present_until > now
end

local function remove_absent(queue, timeouts, presence, now)
    local head = redis.call("LINDEX", queue, 0)
    while head and not is_present(timeouts, presence, head, now) do
        redis.call("ZREM", timeouts, head)
        redis.call("ZREM", presence, head)
        redis.call("LPOP", queue)
        head = redis.call("LINDEX", queue, 0)
    end
    return head
end
