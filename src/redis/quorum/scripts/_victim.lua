-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- Takes the lock from its holder, and notifies it. Returns the owner; nil if the lock is free.
-- Only an owner among `victims`, unless that is nil. The message names the server by its run.
local function take_from_holder(lock, victims, channel_prefix, run)
    local stored = redis.call("GET", lock)
    if not stored then
        return nil
    end
    local owner, client = string.match(stored, "^(%x+);(%x+);")
    if victims and not (owner and victims[owner]) then
        return nil
    end
    redis.call("DEL", lock)
    if owner then
        redis.call("PUBLISH", channel_prefix .. client, "lost " .. owner .. " " .. run)
    end
    return owner or ""
end
