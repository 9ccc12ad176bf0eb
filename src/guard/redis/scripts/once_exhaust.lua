-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- once_exhaust: ends an operation that has had all of its attempts.
-- KEYS record pending
-- ARGV token attempts keep_ms member
-- -> 1 | 0 it has attempts left, or has ended
--@include _once.lua
local record, refusal = read_record(KEYS[1])
if refusal then
    return refusal
end
if not is_claimed_by(record, ARGV[1]) or record.lease_until > clock() or
    record.attempts < tonumber(ARGV[2]) then
    return 0
end
end_record(KEYS[1], KEYS[2], ARGV[4], "3", "too many attempts", ARGV[3])
return 1
