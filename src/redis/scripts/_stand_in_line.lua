-- Keeps the caller's place, or takes the last one, and says how the lock stands:
-- {0, ms the lock has left (-1: no end), server's ms, rank}
local function stand_in_line(lock, queue, waiters, member, prefix, window, lease)
    local now = redis.call("TIME")
    local ms = now[1] * 1000 + math.floor(now[2] / 1000)
    redis.call("ZADD", queue, "NX", now[1] * 1000000 + now[2], member)
    local record = string.format("%.0f", ms + lease) .. " " .. window .. " " .. prefix
    redis.call("HSET", waiters, member, record)
    redis.call("PEXPIRE", queue, lease * 2)
    redis.call("PEXPIRE", waiters, lease * 2)
    local rank = redis.call("ZRANK", queue, member)
    return {0, redis.call("PTTL", lock), string.format("%.0f", ms), rank}
end
