-- FairLock's line: a list of owners, and until when each is waited for. Who is late at its head has
-- left. Behind Java's waiters a place is kept for minutes, so Pawl's, who have a minus, look again
-- and again, and say in SEEN until when that is believed: one that is dead or hangs has left, too.
-- A time in SEEN that is further away than any look reaches is from before the clock was set back.
local function is_there(timeouts, seen, owner, now)
    if tonumber(redis.call("ZSCORE", timeouts, owner) or 0) <= now then
        return false
    end
    if not string.find(owner, ":-", 1, true) then
        return true
    end
    local believed = tonumber(redis.call("ZSCORE", seen, owner) or 0)
    if believed > now + 10000 then
        redis.pcall("ZADD", seen, now + 2000, owner)
    end
    return believed > now
end

local function purge(queue, timeouts, seen, now)
    local head = redis.call("LINDEX", queue, 0)
    while head and not is_there(timeouts, seen, head, now) do
        redis.call("ZREM", timeouts, head)
        redis.call("ZREM", seen, head)
        redis.call("LPOP", queue)
        head = redis.call("LINDEX", queue, 0)
    end
    return head
end
