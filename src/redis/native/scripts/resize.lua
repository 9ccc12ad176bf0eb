-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- resize: sets the total of permits.
-- KEYS lock fence queue waiters holders details
-- ARGV total_permits floor channel_prefix run   -> 1
--@include _token.lua
--@include _clock.lua
--@include _keys.lua
--@include _rights.lua
--@include _holders.lua
--@include _grant_waiters.lua
local state = current_state(k, now_ms())
redis.call("HSET", k.details, "n", ARGV[1])
redis.call("PEXPIRE", k.details, one_day_ms)
grant_waiters(k, state, ARGV[2], ARGV[3])
return 1
