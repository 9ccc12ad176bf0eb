-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- raise: the second half of a forced release, after a majority has executed the first: raises the
-- counter above all that the first half has found, so that no holder restores its hold, and no
-- grant that was on its way is confirmed. Takes the lock again from the owners that were found.
-- KEYS member quarantine, lock fence queue
-- ARGV run set channel_prefix keep_ms token name, then owner for each
-- -> {1} | {"amnesia"} | {"set"}
--@include _member.lua
--@include _line.lua
--@include _victim.lua
local refusal = membership_objection(ARGV[1], ARGV[2])
if refusal then
    return refusal
end
local victims = {}
for i = 7, #ARGV do
    victims[ARGV[i]] = true
end
take_from_holder(KEYS[3], victims, ARGV[3], ARGV[1])
raise(KEYS[4], tonumber(ARGV[5]), ARGV[4])
if redis.call("EXISTS", KEYS[3]) == 0 then
    wake_next(KEYS[5], ARGV[3], ARGV[6])
end
return {1}
