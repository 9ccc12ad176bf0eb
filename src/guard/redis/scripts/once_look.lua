-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- once_look: reads the record of an operation.
-- KEYS record
-- ARGV fingerprint claim
-- -> {state, token, attempts, result or false, 1 if it is the same request, 1 if it is this claim,
--    µs left of the lease} | false there is none
--@include _once.lua
local record, refusal = read_record(KEYS[1])
if not record then
    return refusal or false
end
return {
    record.state, decimal(record.token), decimal(record.attempts), record.result,
    record.fingerprint == ARGV[1] and 1 or 0, record.claim == ARGV[2] and 1 or 0,
    decimal(record.lease_until - clock()),
}
