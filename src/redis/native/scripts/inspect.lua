-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- inspect: reads a lock and its queue.
-- KEYS lock fence queue holders details
-- -> {value | false, ms left, token | false, number of waiters, {owner, when its lease ends, …},
--     {field, detail, …}, server's ms}
-- The reply has at most 4096 holders, those whose leases end last, with their details and `n`:
-- src/redis/transport/reply_limits.hpp. Another program may keep megabytes under these keys, so all
-- texts are cut.
--@include _clock.lua
local longest_text, longest_detail = 4096, 512

-- Rights that were given for an earlier release lack GETRANGE.
local function text_at(key)
    if redis.call("EXISTS", key) == 0 then
        return false
    end
    local text = redis.pcall("GETRANGE", key, 0, longest_text - 1)
    return type(text) == "string" and text or string.sub(redis.call("GET", key), 1, longest_text)
end

local ends, details = {}, {}
local function add_detail(field)
    local detail = redis.call("HGET", KEYS[5], field)
    if detail then
        details[#details + 1] = field
        details[#details + 1] = string.sub(detail, 1, longest_detail)
    end
end

local leases = redis.call("ZRANGE", KEYS[4], -4096, -1, "WITHSCORES")
for i = 1, #leases, 2 do
    if #leases[i] <= longest_detail then
        ends[#ends + 1], ends[#ends + 2] = leases[i], leases[i + 1]
        add_detail(leases[i])
    end
end
add_detail("n")
return {
    text_at(KEYS[1]),
    redis.call("PTTL", KEYS[1]),
    text_at(KEYS[2]),
    redis.call("ZCARD", KEYS[3]),
    ends,
    details,
    string.format("%.0f", now_ms()),
}
