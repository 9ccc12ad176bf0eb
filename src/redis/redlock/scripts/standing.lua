-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- standing: the same as prepare, and changes nothing.
-- KEYS member quarantine   ARGV run set
-- -> {1, set, incarnation, vector, highest, ms of quarantine or -2, nonce, genesis, nodes}
--    | {0} the node is no member
--@include _member.lua
--@include _report.lua
if is_of_other_set(ARGV[2]) then
    return report()
end
if member[1] ~= ARGV[1] or not member[3] then
    return {0}
end
return report()
