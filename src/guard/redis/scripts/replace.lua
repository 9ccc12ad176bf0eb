-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- replace: sets a value, and leaves its ttl, if the old value is still the expected one.
-- KEYS key
-- ARGV expected replacement
-- -> 1 replaced | 0 it is another value, or none
if redis.call("GET", KEYS[1]) ~= ARGV[1] then
    return 0
end
redis.call("SET", KEYS[1], ARGV[2], "KEEPTTL")
return 1
