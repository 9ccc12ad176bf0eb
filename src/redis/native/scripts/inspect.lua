-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- inspect: reads a lock and its queue.
-- KEYS lock fence queue holders details
-- -> {value | false, ms left, token | false, number of waiters, {owner, when its lease ends, …},
--     {field, detail, …}, server's ms}
-- The reply has at most 4096 holders, those whose leases end last; if there are many more details,
-- only theirs and `n`: src/redis/transport/reply_limits.hpp.
--@include _clock.lua
local ends = redis.call("ZRANGE", KEYS[4], -4096, -1, "WITHSCORES")
local details = redis.call("HGETALL", KEYS[5])
if #details > #ends + 64 then
    local shown, shown_details = {n = true}, {}
    for i = 1, #ends, 2 do
        shown[ends[i]] = true
    end
    for i = 1, #details, 2 do
        if shown[details[i]] then
            shown_details[#shown_details + 1] = details[i]
            shown_details[#shown_details + 1] = details[i + 1]
        end
    end
    details = shown_details
end
return {
    redis.call("GET", KEYS[1]),
    redis.call("PTTL", KEYS[1]),
    redis.call("GET", KEYS[2]),
    redis.call("ZCARD", KEYS[3]),
    ends,
    details,
    string.format("%.0f", now_ms()),
}
