-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- The number of free permits; nil if the semaphore is not initialized; or nil and an error if the
-- key is not a semaphore.
local function free_permits(key)
    local value = redis.pcall("GET", key)
    local is_other_type = type(value) == "table" and string.find(value.err, "WRONGTYPE", 1, true)
    if type(value) == "table" and not is_other_type then
        return nil, value
    end
    if is_other_type or (value and not tonumber(value)) then
        return nil, redis.error_reply("OTHERKIND other")
    end
    return value and tonumber(value) or nil
end
