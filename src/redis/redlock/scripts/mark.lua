-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- mark: tells a member that the memory with this nonce is the node with this index (from 0), in
-- this incarnation. From now on no quorum with this member counts an earlier memory of that node.
-- A member accepts one memory for each incarnation, so no two memories can both have a majority.
-- KEYS member quarantine   ARGV run set index incarnation nonce
-- -> {1, incarnation, vector, nonce, highest} | {0} it knows a later memory of the node
--    | {"amnesia"} | {"set"}
--@include _member.lua
local refusal = membership_objection(ARGV[1], ARGV[2])
if refusal then
    return refusal
end
local marks, index = {}, tonumber(ARGV[3]) + 1
for each in string.gmatch(member[5], "%S+") do
    marks[#marks + 1] = each
end
local known, nonce = string.match(marks[index], "^(%d+):(.*)$")
if nonce ~= ARGV[5] and tonumber(known) >= tonumber(ARGV[4]) then
    return {0}
end
if tonumber(known) < tonumber(ARGV[4]) then
    marks[index] = ARGV[4] .. ":" .. ARGV[5]
    redis.call("HSET", KEYS[1], "vector", table.concat(marks, " "))
end
return {1, member[4], table.concat(marks, " "), member[7], member[3]}
