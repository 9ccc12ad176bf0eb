-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- latch_reset: RCountDownLatch.delete. Like Java, it publishes the message of a new count.
-- KEYS latch   ARGV channel publish_command   -> 1 | 0 there was none
-- Raises an error for a key of another type.
redis.call("GET", KEYS[1])
if redis.call("DEL", KEYS[1]) == 0 then
    return 0
end
redis.call(ARGV[2], ARGV[1], "1")
return 1
