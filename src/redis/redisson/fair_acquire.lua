-- fair_acquire: takes the lock if nobody has it and nobody else is first; else stands in line, or
-- stays there, where `wait` is above 0.
-- KEYS lock queue timeouts seen [counter]
-- ARGV owner ttl_ms verb channel permits of wait_ms seen_ms
-- -> {1, token} | {0, ms left}
--@include _lock.lua
--@include _token.lua
--@include _clock.lua
--@include _line.lua
local owner, wait, now = ARGV[1], tonumber(ARGV[7]), now_ms()
local fields, no_hash = fields_of(KEYS[1])
if no_hash then
    return no_hash
end
local held = fields > 0
local trouble = held and of_another_kind(KEYS[1], "lock")
if trouble then
    return trouble
end
if wait > 0 then
    redis.call("ZADD", KEYS[4], now + ARGV[8], owner)
    redis.call("PEXPIRE", KEYS[4], ARGV[8])
end
local head = purge(KEYS[2], KEYS[3], KEYS[4], now)
if not held and (not head or head == owner) then
    local token, bad = next_token(KEYS[5])
    if bad then
        return bad
    end
    redis.call("ZREM", KEYS[4], owner)
    if head then
        redis.call("LPOP", KEYS[2])
        redis.call("ZREM", KEYS[3], owner)
        -- The time that was reckoned for this one is over for all behind it.
        for _, other in ipairs(redis.call("ZRANGE", KEYS[3], 0, -1)) do
            redis.call("ZINCRBY", KEYS[3], -wait, other)
        end
    end
    redis.call("HINCRBY", KEYS[1], owner, 1)
    redis.call("PEXPIRE", KEYS[1], ARGV[2])
    return {1, token}
end
-- Who was first may have been told, and have left since.
if not held then
    redis.call(ARGV[3], ARGV[4] .. ":" .. head, "0")
end
local left = redis.call("PTTL", KEYS[1])
if wait > 0 then
    -- Whoever of those before gets its turn takes the time that it was waited for off all behind
    -- it: until its next look this one needs as much for each. Pawl's have a minus. Java's tryLock
    -- adds next to nothing to what the one before it has: hence what is left of the lease.
    local before, stands, javas, pawls = nil, false, 0, 0
    for _, other in ipairs(redis.call("LRANGE", KEYS[2], 0, -1)) do
        if other == owner then
            stands = true
            break
        end
        before = other
        if string.find(other, ":-", 1, true) then
            pawls = pawls + 1
        else
            javas = javas + 1
        end
    end
    local least = now + math.max(left, 0) + javas * 300000 + pawls * wait
    local base = before and tonumber(redis.call("ZSCORE", KEYS[3], before) or 0) or 0
    redis.call("ZADD", KEYS[3], math.max(base, least) + wait, owner)
    if not stands then
        redis.call("RPUSH", KEYS[2], owner)
    end
end
return {0, left}
