-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- leave: takes the client out of the line. If the lock is free, the client may have been the one
-- that was told, so the next one is. The same if readers have the lock, which the next one may
-- join, and the client was not in the line any more; and if the client kept readers out.
-- KEYS lock queue   ARGV client channel_prefix name   -> 1
--@include _line.lua
--@include _readers_mark.lua
local was_told = redis.call("ZREM", KEYS[2], ARGV[1]) == 0
local stored = redis.pcall("GET", KEYS[1])
local kept_readers_out = is_readers_mark(stored) and
    string.sub(stored, #readers_mark + 2, #readers_mark + 1 + #ARGV[1]) == ARGV[1]
if kept_readers_out then
    redis.call("SET", KEYS[1], readers_mark, "KEEPTTL")
end
if kept_readers_out or not stored or (was_told and is_readers_mark(stored)) then
    wake_next(KEYS[2], ARGV[2], ARGV[3])
end
return 1
