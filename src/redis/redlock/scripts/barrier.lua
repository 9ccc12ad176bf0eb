-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- barrier: the second half of a forced release: raises the counter of a name to the token, and
-- takes the lock from its holders. No hold with a smaller token is extended or confirmed here any
-- more. If the counter is not below the token, a writer's key may be of a later hold, and stays;
-- readers with smaller counters do not.
-- KEYS member quarantine, lock fence queue holders details
-- ARGV run set keep_ms channel_prefix token name   -> {1} | {"amnesia"} | {"set"}
--@include _member.lua
--@include _line.lua
--@include _readers_mark.lua
--@include _readers.lua
local refusal = membership_objection(ARGV[1], ARGV[2])
if refusal then
    return refusal
end
local k, limit = lock_keys(3), tonumber(ARGV[5])
local state, stored = state_of(k, now_ms())
local is_below = counter(k.fence) < limit
if is_below then
    -- A server without memory accepts the other writes after this one, which needs none.
    redis.call("PEXPIRE", k.fence, ARGV[3])
    raise(k.fence, limit, ARGV[3])
end

local function tell(value)
    local owner, client = string.match(value, "^(%x+);(%x+);")
    if owner then
        redis.call("PUBLISH", ARGV[4] .. client, "lost " .. owner .. " " .. ARGV[1])
    end
end

local is_free = state == "free"
if state == "readers" then
    local ended = {}
    for _, owner in ipairs(redis.call("ZRANGE", k.holders, 0, -1)) do
        -- A node that evicts keys may have lost the details alone.
        local detail = redis.call("HGET", k.details, owner) or ""
        local number = tonumber(string.match(detail, ";(%d+)$"))
        if not number or number < limit then
            ended[#ended + 1] = owner
            tell(detail)
        end
    end
    is_free = remove_readers(k, ended)
elseif state == "writer" and is_below then
    redis.call("DEL", k.lock)
    is_free = true
    if type(stored) == "string" then
        tell(stored)
    end
end
if is_free then
    wake_next(k.queue, ARGV[4], ARGV[6])
end
return {1}
