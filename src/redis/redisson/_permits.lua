-- PermitExpirableSemaphore: a string says how many are free, a sorted set until when each of the
-- others is lent. An id has 16 bytes: Pawl's are 12 of the hold, and a number.
local never = 922337203685477

local function id_of(hold, i)
    return hold .. struct.pack(">I4", i)
end

-- What is over comes back.
local function reclaim(free, lent, now, verb, channel)
    local over = redis.call("ZRANGEBYSCORE", lent, 0, now)
    for _, id in ipairs(over) do
        redis.call("ZREM", lent, id)
    end
    if #over > 0 and redis.call("EXISTS", free) == 1 then
        local left = redis.call("INCRBY", free, #over)
        if left > 0 then
            redis.call(verb, channel, left)
        end
    end
end
