-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- The readers of a lock at this node. The lock's key has their mark, and expires with the last of
-- their leases. They count only while the mark is there: without it, their leases have ended, or
-- the node has lost them.
-- HOLDERS: owner -> end of its lease, in ms. DETAILS: owner -> VALUE;COUNTER, as in a writer's key.

-- The keys of a lock; `first` is the position of its own one in KEYS.
local function lock_keys(first)
    return {lock = KEYS[first], fence = KEYS[first + 1], queue = KEYS[first + 2],
        holders = KEYS[first + 3], details = KEYS[first + 4]}
end

-- "free", "readers" or "writer", and what the lock's key has. Removes readers whose leases have
-- ended.
local function state_of(k, now)
    local stored = redis.pcall("GET", k.lock)
    if not stored then
        return "free"
    elseif not is_readers_mark(stored) then
        return "writer", stored
    end
    for _, owner in ipairs(redis.call("ZRANGEBYSCORE", k.holders, "-inf", now)) do
        redis.call("ZREM", k.holders, owner)
        redis.call("HDEL", k.details, owner)
    end
    return "readers", stored
end

local function owner_of(value)
    return string.match(value, "^%x+") or ""
end

-- The counter in VALUE;COUNTER; nil if the text has another value, or is none.
local function counter_in(text, value)
    if type(text) == "string" and string.sub(text, 1, #value + 1) == value .. ";" then
        return tonumber(string.sub(text, #value + 2))
    end
end

-- The counter of the reader with this value; nil if the node does not have it.
local function counter_of_reader(k, state, value)
    return state == "readers" and
        counter_in(redis.call("HGET", k.details, owner_of(value)), value) or nil
end

local function expire_with_last_reader(k)
    local last = redis.call("ZREVRANGE", k.holders, 0, 0, "WITHSCORES")[2]
    for _, key in ipairs({k.lock, k.holders, k.details}) do
        redis.call("PEXPIREAT", key, last)
    end
end

-- The error for a user with rights for writers only; nil if the user has those for readers. It is
-- asked for before the first write, since a mark without a reader must not stay.
local function refusal_of_readers(k)
    local failure = redis.pcall("ZREVRANGE", k.holders, 0, 0).err
    if failure and string.find(failure, "WRONGTYPE", 1, true) then
        return redis.error_reply(failure)
    end
    if failure or redis.acl_check_cmd and not redis.acl_check_cmd("PEXPIREAT", k.lock, "1") then
        return redis.error_reply("NOPERM the user has no rights for readers")
    end
end

-- Adds the reader, or extends its lease. Call it only if no writer has the lock.
local function put_reader(k, state, value, counter_text, ttl_ms, now)
    if state == "free" then
        redis.call("SET", k.lock, readers_mark, "PX", ttl_ms)
        redis.call("DEL", k.holders, k.details)
    end
    redis.call("ZADD", k.holders, string.format("%.0f", now + ttl_ms), owner_of(value))
    redis.call("HSET", k.details, owner_of(value), value .. ";" .. counter_text)
    expire_with_last_reader(k)
end

-- -> true: no reader is left, and the lock is free
local function remove_readers(k, owners)
    for _, owner in ipairs(owners) do
        redis.call("ZREM", k.holders, owner)
        redis.call("HDEL", k.details, owner)
    end
    if redis.call("EXISTS", k.holders) == 1 then
        expire_with_last_reader(k)
        return false
    end
    redis.call("DEL", k.lock, k.details)
    return true
end
