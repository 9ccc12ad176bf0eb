-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- install: makes the node a member, if it has forgotten nothing since its nonce was read. It
-- changes no member: what a member granted before must not count in a later incarnation.
-- KEYS member quarantine
-- ARGV run nonce set incarnation vector highest quarantine_ms genesis ('' = a rejoin) nodes
-- -> 1 | 0 the nonce is another one, or the node is a member
--@include _member.lua
if member[1] ~= ARGV[1] or member[7] ~= ARGV[2] or member[3] then
    return 0
end
if ARGV[7] ~= "0" then
    redis.call("SET", KEYS[2], "1", "PX", ARGV[7])
end
redis.call("HSET", KEYS[1], "set", ARGV[3], "incarnation", ARGV[4], "vector", ARGV[5],
    "highest", ARGV[6], "joined", ARGV[6], "genesis", ARGV[8], "nodes", ARGV[9])
return 1
