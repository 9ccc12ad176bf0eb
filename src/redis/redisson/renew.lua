-- renew: extends each hold that is still the caller's; never makes one.
-- KEYS lock other, for each hold   ARGV kind owner ttl_ms permits, for each
-- -> {1 | 0 | -1 not known, …}
-- A server that is out of memory refuses the first write of a script if it may need memory, and
-- none after a first one that needs none: each extension begins with such a write.
--@include _clock.lua
--@include _permits.lua
local function of_permits(lent, hold, ttl, count, now)
    for i = 1, count do
        if tonumber(redis.call("ZSCORE", lent, id_of(hold, i)) or 0) <= now then
            return 0
        end
    end
    redis.call("ZREM", lent, "")
    for i = 1, count do
        redis.call("ZADD", lent, now + ttl, id_of(hold, i))
    end
    return 1
end

local function of_reader(lock, mine, owner, ttl)
    if redis.call("HEXISTS", lock, owner) == 0 then
        return 0
    end
    local extended = redis.call("PEXPIRE", lock, math.max(redis.call("PTTL", lock), ttl))
    redis.call("SET", mine, "1", "PX", ttl)
    return extended
end

-- No lease: it ends when somebody deletes the semaphore, or the receipt.
local function of_receipt(free, receipt, ttl)
    if redis.call("EXISTS", free) == 0 or tonumber(redis.call("GET", receipt) or 0) == 0 then
        return 0
    end
    return redis.call("PEXPIRE", receipt, ttl + 86400000)
end

local function of_lock(lock, owner, ttl)
    return redis.call("HEXISTS", lock, owner) == 1 and redis.call("PEXPIRE", lock, ttl) or 0
end

local now = now_ms()
local function renewed(i)
    local lock, other = KEYS[2 * i - 1], KEYS[2 * i]
    local kind, owner, ttl, count = unpack(ARGV, 4 * i - 3, 4 * i)
    if kind == "permits" then
        return of_permits(other, owner, ttl, count, now)
    elseif kind == "read" then
        return of_reader(lock, other, owner, ttl)
    elseif kind == "semaphore" then
        return of_receipt(lock, other, ttl)
    end
    return of_lock(lock, owner, ttl)
end

local answers = {}
for i = 1, #KEYS / 2 do
    -- What is of another type is no hold any more; any other error says nothing about it.
    local fine, answer = pcall(renewed, i)
    if fine then
        answers[i] = answer == 1 and 1 or 0
    else
        local words = type(answer) == "table" and answer.err or tostring(answer)
        answers[i] = string.find(words, "WRONGTYPE", 1, true) and 0 or -1
    end
end
return answers
