-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- renew: extends each hold that is still the caller's; never makes one.
-- `other`: the semaphore's lent permits, the reader's lease, the receipt, or the lock again.
-- KEYS lock other, for each   ARGV kind owner ttl_ms permits, for each
-- -> {1 extended | 0 not the caller's any more | -1 unknown, …}
-- A server that is out of memory refuses a script's first write if that may need memory, but
-- accepts all writes after a first one that needs none. So each extension begins with such a write.
--@include _clock.lua
--@include _permits.lua
local function renew_permits(lent_permits, hold, ttl, count, now)
    for i = 1, count do
        if tonumber(redis.call("ZSCORE", lent_permits, id_of(hold, i)) or 0) <= now then
            return 0
        end
    end
    redis.call("ZREM", lent_permits, "")
    for i = 1, count do
        redis.call("ZADD", lent_permits, now + ttl, id_of(hold, i))
    end
    return 1
end

local function renew_reader(lock, lease, owner, ttl)
    if redis.call("HEXISTS", lock, owner) == 0 then
        return 0
    end
    local extended = redis.call("PEXPIRE", lock, math.max(redis.call("PTTL", lock), ttl))
    redis.call("SET", lease, "1", "PX", ttl)
    return extended
end

-- There is no lease: the hold ends when the semaphore or the receipt is deleted.
local function renew_receipt(free, receipt, ttl)
    if redis.call("EXISTS", free) == 0 or tonumber(redis.call("GET", receipt) or 0) == 0 then
        return 0
    end
    return redis.call("PEXPIRE", receipt, ttl + 86400000)
end

local function renew_lock(lock, owner, ttl)
    return redis.call("HEXISTS", lock, owner) == 1 and redis.call("PEXPIRE", lock, ttl) or 0
end

local now = now_ms()
local function renew(i)
    local lock, other = KEYS[2 * i - 1], KEYS[2 * i]
    local kind, owner, ttl, count = unpack(ARGV, 4 * i - 3, 4 * i)
    if kind == "permits" then
        return renew_permits(other, owner, ttl, count, now)
    elseif kind == "read" then
        return renew_reader(lock, other, owner, ttl)
    elseif kind == "semaphore" then
        return renew_receipt(lock, other, ttl)
    end
    return renew_lock(lock, owner, ttl)
end

local answers = {}
for i = 1, #KEYS / 2 do
    -- A key of another type is not a hold any more. Any other error says nothing about the hold.
    local succeeded, answer = pcall(renew, i)
    if succeeded then
        answers[i] = answer == 1 and 1 or 0
    else
        local words = type(answer) == "table" and answer.err or tostring(answer)
        answers[i] = string.find(words, "WRONGTYPE", 1, true) and 0 or -1
    end
end
return answers
