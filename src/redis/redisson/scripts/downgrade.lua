-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- downgrade: makes the writer a reader, in one step, and notifies the waiters. A repeated call has
-- the same result.
-- KEYS lock lease (the reader's)   ARGV writer reader ttl_ms publish_command channel
-- -> 1 | 0 the writer did not hold the lock
if redis.call("HDEL", KEYS[1], ARGV[1]) == 1 then
    redis.call("HSET", KEYS[1], "mode", "read")
    redis.call("HINCRBY", KEYS[1], ARGV[2], 1)
elseif redis.call("HEXISTS", KEYS[1], ARGV[2]) == 0 then
    return 0
end
redis.call("SET", KEYS[2], "1", "PX", ARGV[3])
redis.call("PEXPIRE", KEYS[1], math.max(redis.call("PTTL", KEYS[1]), ARGV[3]))
redis.call(ARGV[4], ARGV[5], "1")
redis.call(ARGV[4], ARGV[5], "0")
return 1
