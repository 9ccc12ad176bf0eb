-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- install: makes the node a member, if it has forgotten nothing since its nonce was read; or raises
-- what a member knows, if its incarnation is older. A genesis changes no member.
-- KEYS member quarantine
-- ARGV run nonce set incarnation vector highest quarantine_ms genesis ('' = a rejoin)
-- -> 1 | 0 the nonce is another one, or there was nothing to do
--@include _member.lua
if member[1] ~= ARGV[1] or redis.call("HGET", KEYS[1], "nonce") ~= ARGV[2] then
    return 0
end
if not member[3] then
    if ARGV[7] ~= "0" then
        redis.call("SET", KEYS[2], "1", "PX", ARGV[7])
    end
    redis.call("HSET", KEYS[1], "set", ARGV[3], "incarnation", ARGV[4], "vector", ARGV[5],
        "highest", ARGV[6], "joined", ARGV[6], "genesis", ARGV[8])
    return 1
end
if ARGV[8] ~= "" or member[2] ~= ARGV[3] or tonumber(member[4]) >= tonumber(ARGV[4]) then
    return 0
end
local known, merged = string.gmatch(member[5], "%d+"), {}
for each in string.gmatch(ARGV[5], "%d+") do
    merged[#merged + 1] = math.max(each, known() or 0)
end
local highest = text_of(math.max(member[3], ARGV[6]))
redis.call("HSET", KEYS[1], "incarnation", ARGV[4], "vector", table.concat(merged, " "),
    "highest", highest, "joined", highest)
return 1
