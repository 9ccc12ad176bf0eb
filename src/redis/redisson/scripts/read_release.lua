-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- read_release: releases a reader's hold. The hash then lives as long as the longest lease of the
-- other readers, which have separate keys that begin with `tagged`. Without other readers, the hash
-- is deleted, and the waiters are notified.
-- KEYS lock lease [unlock_latch]
-- ARGV owner publish_command channel unlock_latch_ms wait_ms (unused) tagged
-- -> 1 released | 0 gone | 2 somebody else's
--@include _readers.lua
if KEYS[3] and redis.call("GET", KEYS[3]) then
    return 1
end
redis.call("DEL", KEYS[2])
if redis.call("HDEL", KEYS[1], ARGV[1]) == 0 then
    return redis.call("EXISTS", KEYS[1]) * 2
end
local left, endless = 0, false
local fields = redis.call("HGETALL", KEYS[1])
for i = 1, #fields, 2 do
    local reader_left = leases_of_reader(KEYS[1], ARGV[6], fields[i], fields[i + 1])
    left, endless = math.max(left, reader_left), endless or reader_left == -1
    -- Deletes the field of a reader of Pawl's whose lease has ended.
    if reader_left == 0 and string.find(fields[i], ":%-%d+$") then
        redis.call("HDEL", KEYS[1], fields[i])
    end
end
if left > 0 and not endless then
    redis.call("PEXPIRE", KEYS[1], left)
elseif left == 0 and not endless and redis.call("HGET", KEYS[1], "mode") ~= "write" then
    redis.call("DEL", KEYS[1])
    redis.call(ARGV[2], ARGV[3], "0")
end
if KEYS[3] then
    redis.call("SET", KEYS[3], "1", "PX", ARGV[4])
end
return 1
