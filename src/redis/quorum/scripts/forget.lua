-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- forget: ends the node's membership, and its quarantine: the caller says that nobody holds a lock.
-- The highest token that it knew stays, for the next set.
-- KEYS member quarantine   ARGV run nonce   -> 1
--@include _member.lua
local earlier = earlier_token()
redis.call("DEL", KEYS[1], KEYS[2])
redis.call("HSET", KEYS[1], "run", ARGV[1], "nonce", ARGV[2], "earlier", earlier)
return 1
