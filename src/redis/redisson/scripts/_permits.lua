-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- PermitExpirableSemaphore: a string has the number of free permits, and a sorted set has the time
-- at which each lent permit expires. The id of a permit has 16 bytes: in Pawl, 12 bytes of the hold
-- and a number.

-- The end of a permit without a lease, as Redisson writes it.
local never = 922337203685477

local function id_of(hold, i)
    return hold .. struct.pack(">I4", i)
end

-- Makes expired permits free, and publishes the number of free ones.
local function reclaim(free, lent_permits, now, publish_command, channel)
    local expired = redis.call("ZRANGEBYSCORE", lent_permits, 0, now)
    for _, id in ipairs(expired) do
        redis.call("ZREM", lent_permits, id)
    end
    if #expired > 0 and redis.call("EXISTS", free) == 1 then
        local left = redis.call("INCRBY", free, #expired)
        if left > 0 then
            redis.call(publish_command, channel, left)
        end
    end
end
