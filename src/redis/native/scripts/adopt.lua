-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- adopt: extends the hold that has this value, and gives it the next token. The hold is then the
-- caller's. Never makes a hold.
-- KEYS lock fence   ARGV value ttl_ms floor('' = no token)   -> {1, token} | {0}
--@include _token.lua
if redis.call("GET", KEYS[1]) ~= ARGV[1] then
    return {0}
end
redis.call("PEXPIRE", KEYS[1], ARGV[2])
return {1, ARGV[3] ~= "" and next_token(KEYS[2], ARGV[3]) or "0"}
