-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- release_non_exclusive: releases a shared hold or permits.
-- KEYS lock fence queue waiters holders details   ARGV value floor channel_prefix run
-- -> 1 released | 0 gone | 2 another holder's
--@include _token.lua
--@include _clock.lua
--@include _keys.lua
--@include _rights.lua
--@include _holders.lua
--@include _grant_waiters.lua
local state = current_state(k, now_ms())
if state == "exclusive" then
    return 2
end
local owner = owner_of(ARGV[1])
local detail, ends_at = holder_details(k, owner)
local status = 0
-- If the details were evicted, the owner alone tells.
if state ~= "free" and ends_at and (not detail or is_same_grant(detail, ARGV[1])) then
    status = 1
    if remove_holder(k, owner) then
        state = "free"
    end
end
grant_waiters(k, state, ARGV[2], ARGV[3])
return status
