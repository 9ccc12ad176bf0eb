-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- once_give_up: ends the lease of a claim after a pause.
-- KEYS record
-- ARGV token pause_us
-- -> 1 | 0 another caller has it, or it has ended
--@include _once.lua
local record, refusal = read_record(KEYS[1])
if refusal then
    return refusal
end
if not is_claimed_by(record, ARGV[1]) then
    return 0
end
redis.call("HSET", KEYS[1], "lease_until", decimal(clock() + ARGV[2]))
return 1
