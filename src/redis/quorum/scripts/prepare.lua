-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- prepare: asks a node for its membership. A node that has forgotten it gets a nonce, which names
-- this loss: it dies with the next one.
-- KEYS member quarantine   ARGV run nonce
-- -> {1, set, incarnation, vector, highest, ms of quarantine or -2, nonce, genesis}
--    | {0, nonce, highest token of earlier memberships} the node is no member
--@include _member.lua
if member[1] ~= ARGV[1] then
    local earlier = earlier_token()
    redis.call("DEL", KEYS[1])
    redis.call("HSET", KEYS[1], "run", ARGV[1], "nonce", ARGV[2], "earlier", earlier)
    return {0, ARGV[2], earlier}
end
local more = redis.call("HMGET", KEYS[1], "nonce", "genesis")
if not member[3] then
    return {0, more[1], earlier_token()}
end
return {1, member[2], member[4], member[5], member[3], redis.call("PTTL", KEYS[2]),
    more[1] or "", more[2] or ""}
