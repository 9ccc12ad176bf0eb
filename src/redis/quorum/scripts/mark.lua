-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- mark: tells a member that the node with this index (from 0) has this incarnation. From now on no
-- quorum with this member counts an earlier incarnation of that node.
-- KEYS member quarantine   ARGV run set index incarnation
-- -> {1, vector, highest} | {"amnesia"} | {"set"}
--@include _member.lua
local refusal = membership_objection(ARGV[1], ARGV[2])
if refusal then
    return refusal
end
local vector, index = {}, tonumber(ARGV[3])
for each in string.gmatch(member[5], "%d+") do
    local known = tonumber(each)
    vector[#vector + 1] = #vector == index and math.max(known, ARGV[4]) or known
end
local text = table.concat(vector, " ")
redis.call("HSET", KEYS[1], "vector", text)
return {1, text, member[3]}
