-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- semaphore_release: returns the permits of the receipt, once. An undo, which has no unlock latch,
-- leaves a receipt of 0 for ten minutes, so that the original request has no effect if it arrives
-- later.
-- KEYS free receipt [unlock_latch]   ARGV owner publish_command channel unlock_latch_ms
-- -> 1 released | 0 there was nothing to return
if KEYS[3] and redis.call("GET", KEYS[3]) then
    return 1
end
local count = tonumber(redis.call("GET", KEYS[2]) or 0)
if count == 0 then
    if not KEYS[3] then
        -- With a first write that needs no memory, a server without memory accepts the others.
        redis.call("DEL", KEYS[2])
        redis.call("SET", KEYS[2], "0", "PX", 600000)
    end
    return 0
end
redis.call("DEL", KEYS[2])
local free = redis.call("INCRBY", KEYS[1], count)
if free > 0 then
    redis.call(ARGV[2], ARGV[3], free)
end
if KEYS[3] then
    redis.call("SET", KEYS[3], "1", "PX", ARGV[4])
else
    redis.call("SET", KEYS[2], "0", "PX", 600000)
end
return 1
