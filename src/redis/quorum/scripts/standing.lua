-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- standing: the same as prepare, and changes nothing.
-- KEYS member quarantine   ARGV run
-- -> {1, set, incarnation, vector, highest, ms of quarantine or -2} | {0} the node is no member
--@include _member.lua
if member[1] ~= ARGV[1] or not member[3] then
    return {0}
end
return {1, member[2], member[4], member[5], member[3], redis.call("PTTL", KEYS[2])}
