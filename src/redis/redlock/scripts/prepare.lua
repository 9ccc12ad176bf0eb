-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- prepare: asks a node for its membership. A node that has forgotten it gets a nonce, which names
-- this loss: it dies with the next one. A member of another set is left as it is, whatever its run:
-- only `forget` takes a server away from a set.
-- KEYS member quarantine   ARGV run nonce set
-- -> {1, set, incarnation, vector, highest, ms of quarantine or -2, nonce, genesis, nodes}
--    | {0, nonce, highest token of earlier memberships} the node is no member
--@include _member.lua
--@include _report.lua
if is_of_other_set(ARGV[3]) then
    return report()
end
if member[1] ~= ARGV[1] then
    local earlier = earlier_token()
    redis.call("DEL", KEYS[1])
    redis.call("HSET", KEYS[1], "run", ARGV[1], "nonce", ARGV[2], "earlier", earlier)
    return {0, ARGV[2], earlier}
end
if not member[3] then
    return {0, member[7], earlier_token()}
end
return report()
