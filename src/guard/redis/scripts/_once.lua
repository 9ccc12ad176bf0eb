-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- The record of an operation is a hash. state: 1 pending, 2 done, 3 failed. token, lease_until and
-- the clock are in µs since 1970, so they are exact as Lua's numbers.
local function clock()
    local now = redis.call("TIME")
    return now[1] * 1000000 + now[2]
end

local function decimal(number)
    return string.format("%.0f", number)
end

-- The fields; nothing if there is no record. The second value is an error.
local function read_record(key)
    local fields = redis.call("HMGET", key, "state", "token", "claim", "attempts", "lease_until",
        "fingerprint", "result")
    if not fields[1] and redis.call("EXISTS", key) == 0 then
        return nil
    end
    local record = {
        state = fields[1], token = tonumber(fields[2]), claim = fields[3],
        attempts = tonumber(fields[4]), lease_until = tonumber(fields[5]),
        fingerprint = fields[6], result = fields[7],
    }
    local is_known = (record.state == "1" or record.state == "2" or record.state == "3") and
        record.token and record.claim and record.attempts and record.lease_until and
        record.fingerprint
    if not is_known then
        return nil, redis.error_reply("WRONGTYPE " .. key .. " contains no record of an operation")
    end
    return record
end

local function is_claimed_by(record, token)
    return record and record.state == "1" and decimal(record.token) == token
end

-- Ends a record: a server without memory refuses the first write only. `pending` is the set of all
-- unfinished operations of the scope, `member` the operation's key there.
local function end_record(key, pending, member, state, result, keep_ms)
    redis.call("HSET", key, "state", state)
    if result then
        redis.call("HSET", key, "result", result)
    else
        redis.call("HDEL", key, "result")
    end
    redis.call("PEXPIRE", key, keep_ms)
    redis.call("ZREM", pending, member)
end
