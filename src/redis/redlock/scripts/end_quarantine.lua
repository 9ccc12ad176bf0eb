-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- end_quarantine: ends the first quarantine of a new set at this node: the caller says that nobody
-- holds a lock. A node that has lost its data since then keeps its quarantine.
-- KEYS member quarantine   ARGV run set nonce   -> 1
--@include _member.lua
local is_first = member[4] == "1" and member[7] == ARGV[3]
if is_first and not membership_objection(ARGV[1], ARGV[2]) then
    redis.call("DEL", KEYS[2])
end
return 1
