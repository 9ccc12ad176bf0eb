-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- classic_acquire: takes all these locks at this node if all are free, else none. A client that
-- waits stands in the line of the first name.
-- KEYS lock queue for each
-- ARGV layout ttl_ms client place_ms ('' '' = does not wait), then value for each
-- -> {1} | {0, ms until the last of them expires; -1 never, holder ('' = free), …}
--@include _classic.lua
--@include _line.lua
local longest, busy = -2, {0, 0}
for i = 1, #KEYS, 2 do
    local value = value_of(KEYS[i])
    busy[#busy + 1] = value and holder_of(value) or ""
    local left = redis.call("PTTL", KEYS[i])
    if left ~= -2 and longest ~= -1 then
        longest = left == -1 and left or math.max(left, longest)
    end
end
if longest ~= -2 then
    if ARGV[3] ~= "" then
        enqueue_client(KEYS[2], ARGV[3], ARGV[4])
    end
    busy[2] = longest
    return busy
end
-- No lock without an end must stay: without this right, the script ends here.
redis.call("PEXPIRE", KEYS[1], ARGV[2])
if ARGV[3] ~= "" then
    redis.call("ZREM", KEYS[2], ARGV[3])
end
for i = 1, #KEYS / 2 do
    local lock = KEYS[2 * i - 1]
    if is_hash then
        redis.call("HSET", lock, ARGV[4 + i], "1")
        redis.call("PEXPIRE", lock, ARGV[2])
    else
        redis.call("SET", lock, ARGV[4 + i], "PX", ARGV[2])
    end
end
return {1}
