-- look: a waiter's refresh. Finds a grant whose message was lost, hands on a lock that ended by
-- itself, and keeps the place in line.
-- KEYS lock fence queue waiters
-- ARGV floor channel_prefix waiter prefix window_ms lease_ms
-- -> {1, token, since_ms, ms left} it is the caller's | {0, ms left, server ms, rank}
--@include _token.lua
--@include _clock.lua
--@include _pass_on.lua
--@include _stand_in_line.lua
local lock, fence, queue, waiters = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local mark = ARGV[4] .. ";"
local value = redis.call("GET", lock)
if value and string.sub(value, 1, #mark) == mark then
    local token = redis.call("GET", fence) or next_token(fence, ARGV[1])
    return {1, token, string.sub(value, #mark + 1), redis.call("PTTL", lock)}
end
local line = stand_in_line(lock, queue, waiters, ARGV[3], ARGV[4], ARGV[5], ARGV[6])
if not value then
    pass_on(lock, fence, queue, waiters, ARGV[1], ARGV[2])
    line[2] = redis.call("PTTL", lock)
    line[4] = redis.call("ZRANK", queue, ARGV[3]) or 0
end
return line
