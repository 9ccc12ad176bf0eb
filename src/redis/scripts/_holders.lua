-- Who holds a lock beside others. While there is anybody, the lock's key has one of these values,
-- and ends with the last of their leases. HOLDERS: owner -> when its lease ends. DETAILS: owner ->
-- "PERMITS TOKEN VALUE"; `used` permits; `token`, "TOKEN RUN" of the present readers and of the
-- server's run in which they have it; and `n`, how many permits there are, which stays when the
-- holders go. The last ARGV of every script that lets somebody in is the server's run.
local marks = {["pawl:shared"] = "shared", ["pawl:permits"] = "permits"}
local a_day = 86400000

-- A number of the details; 0 where there is none. What is no number the server itself refuses.
local function count_of(k, field)
    local text = redis.call("HGET", k.details, field) or "0"
    if text == "0" or (#text < 16 and string.match(text, "^%-?[1-9]%d*$")) then
        return tonumber(text)
    end
    return redis.call("HINCRBY", k.details, field, 0)
end

local function owner_of(value)
    return string.match(value, "^%x+") or ""
end

local function keep_details(k, until_ms)
    if redis.call("HEXISTS", k.details, "n") == 1 then
        redis.call("PEXPIRE", k.details, a_day)
    else
        redis.call("PEXPIREAT", k.details, until_ms)
    end
end

local function keep_until_the_last(k)
    local last = redis.call("ZREVRANGE", k.holders, 0, 0, "WITHSCORES")[2]
    redis.call("PEXPIREAT", k.lock, last)
    redis.call("PEXPIREAT", k.holders, last)
    keep_details(k, last)
end

-- Nobody: what an earlier time left behind must not be read as of this one.
local function forget_holders(k)
    redis.call("DEL", k.holders)
    local n = redis.call("HGET", k.details, "n")
    redis.call("DEL", k.details)
    if n then
        redis.call("HSET", k.details, "n", n)
        redis.call("PEXPIRE", k.details, a_day)
    end
end

-- -> nobody is left
local function expel(k, owner)
    local permits = string.match(redis.call("HGET", k.details, owner) or "", "^(%d+) ")
    redis.call("ZREM", k.holders, owner)
    if permits and #permits < 11 then
        redis.call("HDEL", k.details, owner)
        redis.call("HINCRBY", k.details, "used", -permits)
    end
    if redis.call("EXISTS", k.holders) == 1 then
        keep_until_the_last(k)
        return false
    end
    forget_holders(k)
    return true
end

-- How the lock stands: "free", "exclusive", "shared" or "permits". Whose lease is over has left.
-- A mark ends with the holders set. One without it is of holders that only other keys know, or
-- whose set was evicted: nobody comes in beside them before the mark's own end.
local function settle(k, now)
    local value = redis.call("GET", k.lock)
    local state = value and (marks[value] or "exclusive") or "free"
    if state == "free" or state == "exclusive" then
        return state
    end
    if redis.call("EXISTS", k.holders) == 0 then
        return "exclusive"
    end
    count_of(k, "used")
    local empty = false
    for _, owner in ipairs(redis.call("ZRANGEBYSCORE", k.holders, "-inf", now)) do
        empty = expel(k, owner)
    end
    return empty and "free" or state
end

-- want: "x" alone, "s" shared, "pK" K permits.
local function fits(k, state, want)
    local permits = string.match(want, "^p(%d+)$")
    if not permits then
        return state == "free" or (want == "s" and state == "shared")
    end
    -- Its own request says so where that is no number.
    local n = tonumber(redis.call("HGET", k.details, "n") or 0) or 0
    if state == "free" then
        return tonumber(permits) <= n
    end
    return state == "permits" and count_of(k, "used") + tonumber(permits) <= n
end

-- How many permits there are: as it is kept, or as the caller says; 0 where nobody knows.
local function permits_in_all(k, of)
    local n = count_of(k, "n")
    if n == 0 and of ~= "0" then
        redis.call("HSET", k.details, "n", of)
        redis.call("PEXPIRE", k.details, a_day)
        return tonumber(of)
    end
    return n
end

-- The record of who holds it beside others, and when that ends.
local function held_beside(k, owner)
    local ends = redis.call("ZSCORE", k.holders, owner)
    return ends and redis.call("HGET", k.details, owner), ends
end

-- The lease of a present hold. A server that is out of memory refuses the first write of a script
-- if it may need memory, and none after a first one that needs none: hence the PEXPIRE.
local function extend(k, owner, now, ttl)
    redis.call("PEXPIRE", k.lock, ttl)
    redis.call("ZADD", k.holders, string.format("%.0f", now + ttl), owner)
end

-- None where the server came up with what was true a while ago: a later one may be out since then.
local function readers_token(k)
    local token, run = string.match(redis.call("HGET", k.details, "token") or "", "^(%d+) (.*)$")
    return run == ARGV[#ARGV] and token
end

local function keep_readers_token(k, token)
    redis.call("HSET", k.details, "token", token .. " " .. ARGV[#ARGV])
end

-- The token of a new holder, or nothing where the server has no memory for it. Readers of one time
-- have one token.
local function admit(k, state, want, owner, value, ttl, floor, now)
    local permits = string.match(want, "^p(%d+)$")
    local token = "0"
    if state == "free" then
        local mark = permits and "pawl:permits" or "pawl:shared"
        local set = redis.pcall("SET", k.lock, mark, "PX", ttl)
        if set.err then
            return nil
        end
        forget_holders(k)
    end
    if floor ~= "" then
        token = not permits and readers_token(k) or next_token(k.fence, floor)
        if not permits then
            keep_readers_token(k, token)
        end
    end
    redis.call("ZADD", k.holders, string.format("%.0f", now + ttl), owner)
    redis.call("HSET", k.details, owner, (permits or "1") .. " " .. token .. " " .. value)
    redis.call("HINCRBY", k.details, "used", permits or 1)
    keep_until_the_last(k)
    return token
end
