-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- once_claim: makes the record, or takes it over if it is pending, its lease is over, it is of the
-- same request, and attempts are left. A pending record has no ttl.
-- KEYS record pending(all unfinished operations of the scope, each with the score 0)
-- ARGV claim fingerprint lease_us attempts(at most) member
-- -> {token, attempts} | false not granted
--@include _once.lua
local record, refusal = read_record(KEYS[1])
if refusal then
    return refusal
end
local now = clock()
local token, attempts = now, 1
if record then
    if record.state ~= "1" or record.lease_until > now or record.fingerprint ~= ARGV[2] or
        record.attempts >= tonumber(ARGV[4]) then
        return false
    end
    token = math.max(record.token + 1, now)
    attempts = record.attempts + 1
end
redis.call("HSET", KEYS[1], "state", "1", "token", decimal(token), "claim", ARGV[1], "attempts",
    decimal(attempts), "lease_until", decimal(now + ARGV[3]), "fingerprint", ARGV[2])
redis.call("ZADD", KEYS[2], 0, ARGV[5])
return {decimal(token), decimal(attempts)}
