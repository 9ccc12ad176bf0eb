-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- forget: ends the node's membership, and its quarantine: the caller says that nobody holds a lock,
-- or that the set knows a later memory of the node than the one with the nonce `only`. The highest
-- token that it knew stays, for the next set.
-- KEYS member quarantine   ARGV run nonce only ('' = any)   -> 1 | 0 the nonce is another one
--@include _member.lua
if ARGV[3] ~= "" and ARGV[3] ~= member[7] then
    return 0
end
local earlier = earlier_token()
redis.call("DEL", KEYS[1], KEYS[2])
redis.call("HSET", KEYS[1], "run", ARGV[1], "nonce", ARGV[2], "earlier", earlier)
return 1
