-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- once_finish: ends an operation, if this claim still has it.
-- KEYS record pending
-- ARGV token state('2' done or '3' failed) keep_ms member [result]
-- -> 1 | 0 another caller has it, or it has ended
--@include _once.lua
local record, refusal = read_record(KEYS[1])
if refusal then
    return refusal
end
if not is_claimed_by(record, ARGV[1]) then
    return 0
end
end_record(KEYS[1], KEYS[2], ARGV[4], ARGV[2], ARGV[5], ARGV[3])
return 1
