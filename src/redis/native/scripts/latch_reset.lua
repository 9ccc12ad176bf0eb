-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- latch_reset: deletes the latch and notifies its waiters.
-- KEYS latch   ARGV publish('PUBLISH' or 'SPUBLISH') channel
-- -> 1 | 0 there was no latch
--@include _rights.lua
redis.call("HLEN", KEYS[1])
if not may_all({ARGV[1], ARGV[2]}) then
    return redis.error_reply("NOPERM the user has no rights for latches")
end
if redis.call("DEL", KEYS[1]) == 0 then
    return 0
end
redis.call(ARGV[1], ARGV[2], "gone")
return 1
