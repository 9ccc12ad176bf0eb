-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- A member's answer about itself. A member of another set answers, too, so that a reader learns
-- which set that is.
local function report()
    local more = redis.call("HMGET", KEYS[1], "genesis", "nodes")
    return {1, member[2], member[4] or "", member[5] or "", member[3] or "",
        redis.call("PTTL", KEYS[2]), member[7] or "", more[1] or "", more[2] or ""}
end

local function is_of_other_set(set)
    return member[2] and member[2] ~= set
end
