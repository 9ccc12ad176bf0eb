-- How long the leases of a reader's entries last, which have keys of their own, and whether there
-- is one. A hash may say any count: of too many, in one script, the lock's own end is taken.
local entries_left = 10000
local function leases_of(lock, tagged, reader, said)
    local count = tonumber(said) or 0
    if not (count <= entries_left) then
        return redis.call("PTTL", lock), true
    end
    local left, there = 0, false
    for entry = 1, count do
        local own = redis.call("PTTL", tagged .. ":" .. reader .. ":rwlock_timeout:" .. entry)
        left, there = math.max(left, own), there or own ~= -2
    end
    entries_left = entries_left - math.max(count, 0)
    return left, there
end
