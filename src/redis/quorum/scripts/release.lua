-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- release: deletes each lock that has this value, whether or not the node may vote, and wakes the
-- next waiter. A failed acquire gives its locks back with the token 0.
-- KEYS member quarantine, then lock fence queue for each
-- ARGV run set keep_ms channel_prefix, then value token name for each
-- -> {1 released | 0 gone | 2 another holder's | 3 gone, and granted to another attempt since, …}
--@include _member.lua
--@include _line.lua
-- A node that has forgotten its membership must not begin a new one with this token.
local is_member = not membership_objection(ARGV[1], ARGV[2])
local answers = {}
for i = 1, (#KEYS - 2) / 3 do
    local lock, value = KEYS[3 * i], ARGV[3 * i + 2]
    local stored = redis.pcall("GET", lock)
    if type(stored) == "string" and string.sub(stored, 1, #value + 1) == value .. ";" then
        -- Comes first: a server without memory accepts the other writes after this one.
        redis.call("DEL", lock)
        if is_member then
            raise(KEYS[3 * i + 1], tonumber(ARGV[3 * i + 3]), ARGV[3])
        end
        wake_next(KEYS[3 * i + 2], ARGV[4], ARGV[3 * i + 4])
        answers[i] = 1
    else
        answers[i] = stored and 2 or is_above(KEYS[3 * i + 1], ARGV[3 * i + 3]) and 3 or 0
    end
end
return answers
