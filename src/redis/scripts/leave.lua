-- leave: undoes an acquire whose outcome is unknown, or a wait that was given up: out of the line,
-- and the lock passed on if it had been given.
-- KEYS lock fence queue waiters
-- ARGV floor channel_prefix waiter prefix
-- -> 1 it had been given | 0
--@include _token.lua
--@include _clock.lua
--@include _pass_on.lua
local lock, queue, waiters = KEYS[1], KEYS[3], KEYS[4]
redis.call("ZREM", queue, ARGV[3])
redis.call("HDEL", waiters, ARGV[3])
local mark = ARGV[4] .. ";"
local value = redis.call("GET", lock)
if value and string.sub(value, 1, #mark) == mark then
    pass_on(lock, KEYS[2], queue, waiters, ARGV[1], ARGV[2])
    return 1
end
return 0
