-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- read_acquire: takes the lock as a reader, unless there is a writer. Readers with a token that
-- hold the lock at the same time share one token. Their owners have a minus before the
-- thread number; owners of Java's readers never do.
-- KEYS lock lease [counter]   ARGV owner ttl_ms
-- -> {1, token} | {0, ms that the writer has left (-1: no end)}
--@include _lock.lua
--@include _token.lua
local fields, type_error = field_count(KEYS[1])
if type_error then
    return type_error
end
local mode = redis.call("HGET", KEYS[1], "mode")
if not mode and fields > 0 then
    return kind_error(KEYS[1], "readwrite")
end
if mode and mode ~= "read" then
    return kind_error(KEYS[1], "readwrite") or {0, redis.call("PTTL", KEYS[1])}
end
local token = nil
if KEYS[3] and mode then
    for _, field in ipairs(redis.call("HKEYS", KEYS[1])) do
        if string.find(field, ":%-%d+$") then
            local last = redis.pcall("GET", KEYS[3])
            token = type(last) == "string" and string.match(last, "^%d+$") or nil
            break
        end
    end
end
if not token then
    local token_error
    token, token_error = next_token_by_clock(KEYS[3])
    if token_error then
        return token_error
    end
end
redis.call("HSET", KEYS[1], "mode", "read")
redis.call("HINCRBY", KEYS[1], ARGV[1], 1)
redis.call("SET", KEYS[2], "1", "PX", ARGV[2])
-- The hash lives as long as the longest lease of its readers.
redis.call("PEXPIRE", KEYS[1], math.max(redis.call("PTTL", KEYS[1]), ARGV[2]))
return {1, token}
