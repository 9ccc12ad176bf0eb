-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- raise: raises the counter of a name, so that no hold with a smaller token can be extended where
-- its key is deleted next.
-- KEYS member quarantine fence   ARGV run set keep_ms token
-- -> {1} | {"amnesia"} | {"set"}
--@include _member.lua
local refusal = membership_objection(ARGV[1], ARGV[2])
if refusal then
    return refusal
end
raise(KEYS[3], tonumber(ARGV[4]), ARGV[3])
return {1}
