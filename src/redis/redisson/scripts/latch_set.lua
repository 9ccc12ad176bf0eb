-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- latch_set: RCountDownLatch.trySetCount.
-- KEYS latch   ARGV count channel publish_command   -> 1 | 0 the latch is counting
if redis.call("EXISTS", KEYS[1]) == 1 then
    -- Raises an error for a key of another type.
    redis.call("GET", KEYS[1])
    return 0
end
redis.call("SET", KEYS[1], ARGV[1])
redis.call(ARGV[3], ARGV[2], "1")
return 1
