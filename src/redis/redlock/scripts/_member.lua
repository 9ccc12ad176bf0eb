-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- What the node knows of its membership: the HASH KEYS[1], and in KEYS[2] its quarantine.
--   run          named the node's memory when it became a member: another one means that the server
--                has restarted, or that Sentinels have promoted one
--   set          the digest of the nodes and of the longest ttl
--   highest      the highest token that this node has seen, of all names
--   joined       `highest` when the node became a member: counters of an earlier run may be old
--   earlier      the highest token of the node's earlier memberships, if it still knows
--   nonce        names this memory of the node: it dies when the node forgets
--   incarnation  how often the node of this name has become a member
--   vector       of every node, the mark INCARNATION:NONCE of the latest memory that this one has
--                heard of
--   nodes        the set as a URL without secrets, for messages
local member = redis.call("HMGET", KEYS[1], "run", "set", "highest", "incarnation", "vector",
    "joined", "nonce")

-- Why the node may not answer for its set; nil if it may. Its data are gone, or of an earlier run.
-- A membership of another set is never taken for a loss: the other set may be alive.
local function membership_objection(run, set)
    if member[2] and member[2] ~= set then
        return {"set"}
    end
    if member[1] ~= run or not member[3] then
        return {"amnesia"}
    end
end

-- The same, also for a node that must grant nothing yet.
local function objection(run, set)
    local refusal = membership_objection(run, set)
    if refusal then
        return refusal
    end
    local left = redis.call("PTTL", KEYS[2])
    if left ~= -2 then
        return {"quarantine", left}
    end
end

-- Decimal text: Lua's own conversion rounds above 10^14.
local function text_of(number)
    return string.format("%.0f", number)
end

-- What the script raises for one name says nothing about the other names.
local highest_before = member[3]

-- The counter of a name: if it is missing, the highest token of the node, which is not below it.
local function counter(fence)
    local value = tonumber(redis.call("GET", fence) or highest_before or 0)
    if not value or value > 2 ^ 53 - 2 then
        error("the counter " .. fence .. " is no token; delete that key")
    end
    return math.max(value, member[6] or 0)
end

-- The counter of the next hold of a name. The floor is what a majority of the nodes' clocks have
-- reached: above the tokens of older data, also if those have come back without a restart. At most
-- a second more than this node's clock says counts, so that one client's wrong clock does not raise
-- the counters.
local function next_counter(fence, floor)
    local latest = (redis.call("TIME")[1] - 1704067200 + 1) * 65536
    return math.max(counter(fence), math.min(floor, latest) - 1) + 1
end

-- Raises the counter of a name, and with it the highest token, to at least `token`.
local function raise(fence, token, keep_ms)
    if counter(fence) < token then
        redis.call("SET", fence, text_of(token), "PX", keep_ms)
    end
    if member[3] and tonumber(member[3]) < token then
        member[3] = text_of(token)
        redis.call("HSET", KEYS[1], "highest", member[3])
    end
end

-- The highest token that the node remembers of its earlier memberships. It may have been higher.
local function earlier_token()
    local earlier = tonumber(redis.call("HGET", KEYS[1], "earlier")) or 0
    return text_of(math.max(tonumber(member[3]) or 0, earlier))
end

-- The counter of a name shows that the node has granted it after the hold with this token. Its
-- value is read as it is: a floor of all names shows nothing.
local function is_above(fence, token)
    local value = redis.pcall("GET", fence)
    return type(value) == "string" and (tonumber(value) or 0) > tonumber(token)
end
