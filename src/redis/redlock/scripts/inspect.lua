-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- inspect: the holders of a lock at this node.
-- KEYS lock queue holders details
-- -> {VALUE;COUNTER or nil, ms until it expires, waiters,
--     {details of a reader, ms until its lease ends, …}}
-- At most 4096 readers, those whose leases end last, and no long text of another program:
-- src/redis/transport/reply_limits.hpp.
-- Of a key with another program's data nothing is shown.
--@include _readers_mark.lua
local function read(default, ...)
    local reply = redis.pcall(...)
    if type(reply) == "table" and reply.err then
        return string.find(reply.err, "WRONGTYPE", 1, true) and default or redis.call(...)
    end
    return reply or default
end

local function beginning(text, size)
    return type(text) == "string" and string.sub(text, 1, size) or text
end

local value, readers = redis.pcall("GET", KEYS[1]), {}
if is_readers_mark(value) then
    local ends, now = read({}, "ZRANGE", KEYS[3], -4096, -1, "WITHSCORES"), now_ms()
    for i = 1, #ends, 2 do
        readers[i] = beginning(read("", "HGET", KEYS[4], ends[i]), 512)
        readers[i + 1] = math.max(ends[i + 1] - now, 0)
    end
    value = false
elseif type(value) == "table" then
    value = ""
end
return {beginning(value, 4096), redis.call("PTTL", KEYS[1]), read(0, "ZCARD", KEYS[2]), readers}
