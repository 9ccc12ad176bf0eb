-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- write_release: releases the writer's hold. The message `1` notifies all waiters, since many may
-- read now. It wakes only sleeping Java threads; `0` is for a thread that is about to sleep.
-- KEYS lock [unlock_latch]   ARGV owner publish_command channel unlock_latch_ms
-- -> 1 released | 0 gone | 2 somebody else's
if KEYS[2] and redis.call("GET", KEYS[2]) then
    return 1
end
if redis.call("HDEL", KEYS[1], ARGV[1]) == 0 then
    return redis.call("EXISTS", KEYS[1]) * 2
end
redis.call("DEL", KEYS[1])
redis.call(ARGV[2], ARGV[3], "1")
redis.call(ARGV[2], ARGV[3], "0")
if KEYS[2] then
    redis.call("SET", KEYS[2], "1", "PX", ARGV[4])
end
return 1
