-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- confirm: raises the counters to the tokens of a grant, also those in the values, if this node
-- still has all of the locks as it granted them. The value ends with the counter, so a late copy of
-- an acquire is not confirmed; and the nonce is that of the grant, so old data that came back are
-- not.
-- KEYS member quarantine, then lock fence for each
-- ARGV run set keep_ms nonce, then value counter token for each
-- -> {1, incarnation, vector} | {0} the locks are gone
--    | {"amnesia"} | {"set"} | {"quarantine", ms}
--@include _member.lua
local refusal = objection(ARGV[1], ARGV[2])
if refusal then
    return refusal
end
if member[7] ~= ARGV[4] then
    return {0}
end
local count = (#KEYS - 2) / 2
for i = 1, count do
    if redis.call("GET", KEYS[2 * i + 1]) ~= ARGV[3 * i + 2] .. ";" .. ARGV[3 * i + 3] then
        return {0}
    end
end
for i = 1, count do
    local token = ARGV[3 * i + 4]
    raise(KEYS[2 * i + 2], tonumber(token), ARGV[3])
    redis.call("SET", KEYS[2 * i + 1], ARGV[3 * i + 2] .. ";" .. token, "KEEPTTL")
end
return {1, member[4], member[5]}
