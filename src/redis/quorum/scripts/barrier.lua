-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- barrier: the second half of a forced release: raises the counter of a name to the token, and
-- takes the lock from its holder. No hold with a smaller token is extended or confirmed here any
-- more. If the counter is not below the token, nothing changes: the key may be of a later hold.
-- KEYS member quarantine, lock fence queue   ARGV run set keep_ms channel_prefix token name
-- -> {1} | {"amnesia"} | {"set"}
--@include _member.lua
--@include _line.lua
local refusal = membership_objection(ARGV[1], ARGV[2])
if refusal then
    return refusal
end
if counter(KEYS[4]) >= tonumber(ARGV[5]) then
    return {1}
end
raise(KEYS[4], tonumber(ARGV[5]), ARGV[3])
local stored = redis.pcall("GET", KEYS[3])
redis.call("DEL", KEYS[3])
local owner, client = string.match(type(stored) == "string" and stored or "", "^(%x+);(%x+);")
if owner then
    redis.call("PUBLISH", ARGV[4] .. client, "lost " .. owner .. " " .. ARGV[1])
end
wake_next(KEYS[5], ARGV[4], ARGV[6])
return {1}
