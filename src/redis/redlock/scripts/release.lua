-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- release: deletes each lock that has this value, whether or not the node may vote, and wakes the
-- next waiter. The counter becomes the next number, so that a renewal of this hold that the node
-- executes later restores nothing; a later hold has at least that token. A failed acquire gives its
-- locks back with the token 0.
-- KEYS member quarantine, then lock fence queue for each
-- ARGV run set keep_ms channel_prefix, then value token name for each
-- -> {1 released | 0 gone | 2 another holder's | 3 gone, and granted to another attempt since, …}
--@include _member.lua
--@include _line.lua
-- A node that has forgotten its membership must not begin a new one with this token.
local is_member = not membership_objection(ARGV[1], ARGV[2])
local answers = {}
for i = 1, (#KEYS - 2) / 3 do
    local lock, fence, value = KEYS[3 * i], KEYS[3 * i + 1], ARGV[3 * i + 2]
    local token = tonumber(ARGV[3 * i + 3])
    local stored = redis.pcall("GET", lock)
    local is_own = type(stored) == "string" and string.sub(stored, 1, #value + 1) == value .. ";"
    answers[i] = is_own and 1 or stored and 2 or is_above(fence, token) and 3 or 0
    -- A server without memory accepts the other writes after a first one that needs none.
    if is_own then
        redis.call("DEL", lock)
    end
    if is_member and token > 0 then
        redis.call("PEXPIRE", fence, ARGV[3])
        -- Damage to the counter of one name must not keep the others held.
        pcall(raise, fence, token + 1, ARGV[3])
    end
    if is_own then
        wake_next(KEYS[3 * i + 2], ARGV[4], ARGV[3 * i + 4])
    end
end
return answers
