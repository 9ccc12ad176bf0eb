-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- acquire: takes the lock if it is free, with the next token if the counter is named, else with 0.
-- KEYS lock queue (only for the release) [counter]   ARGV owner ttl_ms
-- -> {1, token} | {0, ms that the lock has left (-1: no end)}
--@include _lock.lua
--@include _token.lua
local fields, type_error = field_count(KEYS[1])
if type_error then
    return type_error
end
if fields == 0 then
    local token, trouble = next_token(KEYS[3])
    if trouble then
        return trouble
    end
    redis.call("HINCRBY", KEYS[1], ARGV[1], 1)
    redis.call("PEXPIRE", KEYS[1], ARGV[2])
    return {1, token}
end
-- Refuses an object of another kind: its release would not wake a waiter for a lock.
return kind_error(KEYS[1], "lock") or {0, redis.call("PTTL", KEYS[1])}
