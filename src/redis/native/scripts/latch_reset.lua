-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- latch_reset: deletes the latch and notifies its waiters.
-- KEYS latch   ARGV publish('PUBLISH' or 'SPUBLISH') channel
-- -> 1 | 0 there was no latch
redis.call("HLEN", KEYS[1])
if redis.call("DEL", KEYS[1]) == 0 then
    return 0
end
redis.call(ARGV[1], ARGV[2], "gone")
return 1
