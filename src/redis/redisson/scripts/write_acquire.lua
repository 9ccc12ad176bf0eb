-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- write_acquire: takes the lock as the writer, if there are no readers and no writer.
-- KEYS lock [counter]   ARGV owner ttl_ms
-- -> {1, token} | {0, ms that the lock has left (-1: no end)}
--@include _lock.lua
--@include _token.lua
local fields, type_error = field_count(KEYS[1])
if type_error then
    return type_error
end
if fields > 0 then
    return kind_error(KEYS[1], "readwrite") or {0, redis.call("PTTL", KEYS[1])}
end
local token, trouble = next_token_by_clock(KEYS[2])
if trouble then
    return trouble
end
redis.call("HSET", KEYS[1], "mode", "write")
redis.call("HINCRBY", KEYS[1], ARGV[1], 1)
redis.call("PEXPIRE", KEYS[1], ARGV[2])
return {1, token}
