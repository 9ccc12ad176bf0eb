-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- A member's answer about itself. A member of another set answers, too, so that a reader learns
-- which set that is. Another program may have written longer fields, which are cut: a reply that is
-- too large ends the connection.
local function report()
    local more = redis.call("HMGET", KEYS[1], "genesis", "nodes")
    local function cut(field)
        return string.sub(field or "", 1, 4096)
    end
    return {1, cut(member[2]), cut(member[4]), cut(member[5]), cut(member[3]),
        redis.call("PTTL", KEYS[2]), cut(member[7]), cut(more[1]), cut(more[2])}
end

local function is_of_other_set(set)
    return member[2] and member[2] ~= set
end
