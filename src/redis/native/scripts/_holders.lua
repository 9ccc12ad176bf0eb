-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- The non-exclusive holders of a lock. While there are any, the lock's key has one of the values of
-- `marks`, and expires with the last of their leases.
-- HOLDERS: owner -> end of its lease. DETAILS: owner -> "PERMITS TOKEN VALUE"; `used` -> permits in
-- use; `n` -> total of permits, which outlives the holders; `token` -> "TOKEN RUN", the token of
-- the present readers and the server's run in which they got it.
-- The last ARGV of every script that includes _grant_waiters.lua is the server's run: the beginning
-- of its `run_id`, or '' in a cluster.
local marks = {["pawl:shared"] = "shared", ["pawl:permits"] = "permits"}
local one_day_ms = 86400000

-- A number in DETAILS; 0 if the field is missing. For a text that is not a number, HINCRBY raises
-- an error.
local function count_of(k, field)
    local text = redis.call("HGET", k.details, field) or "0"
    if text == "0" or (#text < 16 and string.match(text, "^%-?[1-9]%d*$")) then
        return tonumber(text)
    end
    return redis.call("HINCRBY", k.details, field, 0)
end

-- All that a script can ask before Redis 7.
local function may_read_holders(k)
    local refusal = redis.pcall("ZREVRANGE", k.holders, 0, 0).err or ""
    -- Servers have several words for it.
    return not (string.find(refusal, "NOPERM", 1, true) or
        string.find(refusal, "ACL failure", 1, true) or
        string.find(refusal, "executing the script", 1, true))
end

-- The server's refusal to add holders and to remove them again, or nothing. Must come before the
-- first write: rights for exclusive locks, perhaps with others such as `+@read`, allow only a part.
local function refusal_of_holders(k)
    if k.may_add_holders == nil then
        k.may_add_holders = (redis.acl_check_cmd or may_read_holders(k)) and may_all({
            "SET", k.lock, "PEXPIREAT", k.lock, "DEL", k.lock,
            "INCR", k.fence, "GET", k.fence, "PEXPIRE", k.fence,
            "ZADD", k.holders, "ZREM", k.holders, "EXISTS", k.holders, "ZREVRANGE", k.holders,
            "ZRANGEBYSCORE", k.holders, "HSET", k.details, "HGET", k.details, "HDEL", k.details,
            "HEXISTS", k.details, "HINCRBY", k.details,
        })
    end
    if not k.may_add_holders then
        return redis.error_reply("NOPERM the user has no rights for readers and permits")
    end
end

-- The owner in a value, or in a prefix of one.
local function owner_of(value)
    return string.match(value, "^%x+") or ""
end

local function expire_details(k, until_ms)
    if redis.call("HEXISTS", k.details, "n") == 1 then
        redis.call("PEXPIRE", k.details, one_day_ms)
    else
        redis.call("PEXPIREAT", k.details, until_ms)
    end
end

local function expire_with_last_holder(k)
    local last = redis.call("ZREVRANGE", k.holders, 0, 0, "WITHSCORES")[2]
    redis.call("PEXPIREAT", k.lock, last)
    redis.call("PEXPIREAT", k.holders, last)
    expire_details(k, last)
end

-- Deletes all that earlier holders left, so that no later holder gets it; keeps `n`.
local function delete_holders(k)
    redis.call("DEL", k.holders)
    local n = redis.call("HGET", k.details, "n")
    redis.call("DEL", k.details)
    if n then
        redis.call("HSET", k.details, "n", n)
        redis.call("PEXPIRE", k.details, one_day_ms)
    end
end

-- -> true: no holder is left
local function remove_holder(k, owner)
    local permits = string.match(redis.call("HGET", k.details, owner) or "", "^(%d+) ")
    redis.call("ZREM", k.holders, owner)
    -- Pawl writes at most 10 digits; more are another program's data.
    if permits and #permits < 11 then
        redis.call("HDEL", k.details, owner)
        redis.call("HINCRBY", k.details, "used", -permits)
    end
    if redis.call("EXISTS", k.holders) == 1 then
        expire_with_last_holder(k)
        return false
    end
    delete_holders(k)
    return true
end

-- The lock's state: "free", "exclusive", "shared" or "permits". Removes holders whose lease has
-- ended. A mark expires with the set of holders. A mark without that set belongs to holders under
-- other keys, or the set was evicted: then the lock counts as exclusive until the mark expires.
local function current_state(k, now)
    local value = redis.call("GET", k.lock)
    local state = value and (marks[value] or "exclusive") or "free"
    if state == "free" or state == "exclusive" then
        return state
    end
    if redis.call("EXISTS", k.holders) == 0 then
        return "exclusive"
    end
    -- Raises an error if `used` is not a number, before anything is written.
    count_of(k, "used")
    local empty = false
    for _, owner in ipairs(redis.call("ZRANGEBYSCORE", k.holders, "-inf", now)) do
        empty = remove_holder(k, owner)
    end
    return empty and "free" or state
end

-- mode: "x" exclusive, "s" shared, "pK" K permits.
local function can_be_granted(k, state, mode)
    local permits = string.match(mode, "^p(%d+)$")
    if not permits then
        return state == "free" or (mode == "s" and state == "shared")
    end
    -- If `n` is not a number, the waiter's own request reports the error.
    local n = tonumber(redis.call("HGET", k.details, "n") or 0) or 0
    if state == "free" then
        return tonumber(permits) <= n
    end
    return state == "permits" and count_of(k, "used") + tonumber(permits) <= n
end

-- The stored total of permits, or else the caller's, which is then stored; 0 if neither is known.
local function total_permits(k, total)
    local n = count_of(k, "n")
    if n == 0 and total ~= "0" then
        redis.call("HSET", k.details, "n", total)
        redis.call("PEXPIRE", k.details, one_day_ms)
        return tonumber(total)
    end
    return n
end

-- The details of a non-exclusive holder, and the end of its lease.
local function holder_details(k, owner)
    local ends_at = redis.call("ZSCORE", k.holders, owner)
    return ends_at and redis.call("HGET", k.details, owner), ends_at
end

-- Whether the details are those of the grant with this value. The owner alone does not tell: its
-- grant may have expired, and values that callers chose can begin alike.
local function is_same_grant(detail, value)
    return detail and string.match(detail, "^%d+ %d+ (.*)$") == value
end

-- Extends the lease of a present holder. A server that is out of memory refuses a script's first
-- write if that may need memory, but accepts all writes after a first one that needs none: PEXPIRE.
-- The caller then calls `expire_with_last_holder`, since other leases may end later.
local function extend_holder(k, owner, now, ttl)
    redis.call("PEXPIRE", k.lock, ttl)
    redis.call("ZADD", k.holders, string.format("%.0f", now + ttl), owner)
end

-- In a cluster a run also ends when the node becomes a replica: the replication id, which the floor
-- has, tells one from the others.
local function run_of(floor)
    return string.match(floor, "^%d+ %d+ (%x+)$") or ARGV[#ARGV]
end

-- The token of the present readers. Nothing after the end of the server's run: its data may be
-- older than the last token given.
local function readers_token(k, floor)
    local token, run = string.match(redis.call("HGET", k.details, "token") or "", "^(%d+) (.*)$")
    local is_known = run == run_of(floor)
    return is_known and (run == ARGV[#ARGV] or is_replication_of(run)) and token
end

local function keep_readers_token(k, token, floor)
    redis.call("HSET", k.details, "token", token .. " " .. run_of(floor))
end

-- Adds a holder. -> its token ("0" if `floor` is ''), or nothing if the server has no memory, or
-- the user no right.
-- Readers that hold the lock at the same time share one token.
local function add_holder(k, state, mode, owner, value, ttl, floor, now)
    local permits = string.match(mode, "^p(%d+)$")
    local token = "0"
    if refusal_of_holders(k) then
        return nil
    end
    if state == "free" then
        local mark = permits and "pawl:permits" or "pawl:shared"
        local set = redis.pcall("SET", k.lock, mark, "PX", ttl)
        if set.err then
            return nil
        end
        delete_holders(k)
    end
    if floor ~= "" then
        token = not permits and readers_token(k, floor) or next_token(k.fence, floor)
        if not permits then
            keep_readers_token(k, token, floor)
        end
    end
    redis.call("ZADD", k.holders, string.format("%.0f", now + ttl), owner)
    redis.call("HSET", k.details, owner, (permits or "1") .. " " .. token .. " " .. value)
    redis.call("HINCRBY", k.details, "used", permits or 1)
    expire_with_last_holder(k)
    return token
end
