-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- classic_drop: takes the lock from its holder, for a forced release. The message names the server
-- by its run.
-- KEYS lock queue   ARGV layout run channel_prefix name channel ('' = none of Redisson's)   -> {1}
--@include _classic.lua
--@include _line.lua
local owner, client = string.match(value_of(KEYS[1]) or "", "^(%x+);(%x+);")
redis.call("DEL", KEYS[1])
if owner then
    redis.call("PUBLISH", ARGV[3] .. client, "lost " .. owner .. " " .. ARGV[2])
end
wake_next(KEYS[2], ARGV[3], ARGV[4])
if ARGV[5] ~= "" then
    redis.call("PUBLISH", ARGV[5], "0")
end
return {1}
