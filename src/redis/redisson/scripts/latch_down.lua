-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- latch_down: RCountDownLatch.countDown, by one or more.
-- KEYS latch   ARGV steps channel publish_command   -> the count that is left
-- GET, unlike EXISTS, raises an error for a key of another type.
if not redis.call("GET", KEYS[1]) then
    return 0
end
local left = redis.call("DECRBY", KEYS[1], ARGV[1])
if left <= 0 then
    redis.call("DEL", KEYS[1])
    redis.call(ARGV[3], ARGV[2], "0")
end
return math.max(left, 0)
