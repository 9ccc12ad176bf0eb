-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- drop: the first half of a forced release. Takes the lock from its holder.
-- KEYS member quarantine, lock fence   ARGV run set channel_prefix
-- -> {1, owner or nil, counter} | {"amnesia"} | {"set"}
--@include _member.lua
--@include _victim.lua
local refusal = membership_objection(ARGV[1], ARGV[2])
if refusal then
    return refusal
end
local owner = take_from_holder(KEYS[3], nil, ARGV[3], ARGV[1])
return {1, owner or false, text_of(counter(KEYS[4]))}
