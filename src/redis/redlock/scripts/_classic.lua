-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- What nodes without a set keep of a lock, in the layout ARGV[1]: "plain", the STRING of libraries
-- with SET NX PX; "redisson", the HASH of an RLock, whose field is the holder.
local is_hash = ARGV[1] == "redisson"

-- A key of another type is another holder's.
local function has_value(lock, value)
    if is_hash then
        return redis.pcall("HEXISTS", lock, value) == 1
    end
    return redis.pcall("GET", lock) == value
end

-- The holder's value; empty for a holder that has none in this layout; nil if the lock is free.
local function value_of(lock)
    if redis.call("EXISTS", lock) == 0 then
        return nil
    end
    local stored = redis.pcall(is_hash and "HKEYS" or "GET", lock)
    if not is_hash then
        return type(stored) == "string" and stored or ""
    end
    -- Redisson's holders have another id at each node, so they would not look like one holder.
    local is_own = stored[1] and string.find(stored[1], "^%x+;%x+;")
    return is_own and stored[1] or ""
end
