-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- counter: the first half of a forced release. How far the node's counter of a name is, and whether
-- somebody has the lock.
-- KEYS member quarantine, lock fence   ARGV run set
-- -> {1, counter, 1 held | 0 free} | {"amnesia"} | {"set"}
--@include _member.lua
local refusal = membership_objection(ARGV[1], ARGV[2])
if refusal then
    return refusal
end
return {1, text_of(counter(KEYS[4])), redis.call("EXISTS", KEYS[3])}
