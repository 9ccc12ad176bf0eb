-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- release: releases the lock and notifies the waiters, and the first waiter of a fair queue. The
-- unlock latch gives the reply to a release that is repeated because its reply was lost. An undo
-- has no unlock latch.
-- KEYS lock queue [unlock_latch]   ARGV owner publish_command channel unlock_latch_ms
-- -> 1 released | 0 gone | 2 somebody else's
if KEYS[3] and redis.call("GET", KEYS[3]) then
    return 1
end
if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then
    return redis.call("EXISTS", KEYS[1]) * 2
end
redis.call("DEL", KEYS[1])
redis.call(ARGV[2], ARGV[3], "0")
local head = redis.call("LINDEX", KEYS[2], 0)
if head then
    redis.call(ARGV[2], ARGV[3] .. ":" .. head, "0")
end
if KEYS[3] then
    redis.call("SET", KEYS[3], "1", "PX", ARGV[4])
end
return 1
