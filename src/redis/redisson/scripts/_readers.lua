-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- The longest lease of a reader's entries, which have separate keys; and whether one exists.
-- `tagged`: the first part of these keys. A program may write any count: for too many entries in
-- one script, the lock's expiry is used.
local entries_left = 10000
local function leases_of_reader(lock, tagged, reader, count_text)
    local count = tonumber(count_text) or 0
    if not (count <= entries_left) then
        return redis.call("PTTL", lock), true
    end
    local left, exists = 0, false
    for entry = 1, count do
        local entry_ttl = redis.call("PTTL", tagged .. ":" .. reader .. ":rwlock_timeout:" .. entry)
        left, exists = math.max(left, entry_ttl), exists or entry_ttl ~= -2
    end
    entries_left = entries_left - math.max(count, 0)
    return left, exists
end
