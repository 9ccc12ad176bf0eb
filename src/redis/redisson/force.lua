-- force: takes it from all who hold it and tells who waits. The victims are not told: Redisson has
-- no channel to them.
-- KEYS lock queue timeouts lent seen   ARGV verb lock_channel rwlock_channel semaphore_channel
-- -> 1 | 0 nobody had it
--@include _lock.lua
--@include _clock.lua
--@include _line.lua
local function take_permits()
    local free = redis.call("GET", KEYS[1])
    if not tonumber(free) then
        return no_lock()
    end
    local lent = redis.call("ZCARD", KEYS[4])
    if lent == 0 then
        return 0
    end
    redis.call("DEL", KEYS[4])
    free = redis.call("INCRBY", KEYS[1], lent)
    if free > 0 then
        redis.call(ARGV[1], ARGV[4], free)
    end
    return 1
end

local type = redis.call("TYPE", KEYS[1]).ok
if type == "none" then
    return 0
elseif type == "string" then
    return take_permits()
elseif type ~= "hash" or not holder_of(KEYS[1]) then
    return no_lock()
end
if redis.call("HEXISTS", KEYS[1], "mode") == 1 then
    redis.call("DEL", KEYS[1])
    redis.call(ARGV[1], ARGV[3], "1")
    redis.call(ARGV[1], ARGV[3], "0")
    return 1
end
redis.call("DEL", KEYS[1])
redis.call(ARGV[1], ARGV[2], "0")
local head = purge(KEYS[2], KEYS[3], KEYS[5], now_ms())
if head then
    redis.call(ARGV[1], ARGV[2] .. ":" .. head, "0")
end
return 1
