-- FairLock's line: a list of owners, and until when each is waited for. Who is late at its head has
-- left.
local function purge(queue, timeouts, now)
    local head = redis.call("LINDEX", queue, 0)
    while head and tonumber(redis.call("ZSCORE", timeouts, head) or 0) <= now do
        redis.call("ZREM", timeouts, head)
        redis.call("LPOP", queue)
        head = redis.call("LINDEX", queue, 0)
    end
    return head
end
