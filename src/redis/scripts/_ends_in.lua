-- How long nothing changes for who stands in line as `member`, in ms: until the lock's lease ends
-- (-1: never), or the first of several holders' leases, or the place of who stands first, does not
-- fit, and may be dead.
local function ends_in(k, state, member, now)
    local beside = state ~= "free" and state ~= "exclusive"
    local soonest = beside and redis.call("ZRANGE", k.holders, 0, 0, "WITHSCORES")[2]
    if not soonest then
        return redis.call("PTTL", k.lock)
    end
    soonest = tonumber(soonest)
    local first = redis.call("ZRANGE", k.queue, 0, 0)[1]
    if first and first ~= member then
        local lease = string.match(redis.call("HGET", k.waiters, first) or "", "^%d+")
        soonest = math.min(soonest, tonumber(lease or now))
    end
    return math.max(soonest - now, 0)
end
