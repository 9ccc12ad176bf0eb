-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- classic_leave: takes the client out of the line. If the lock is free, the client may have been
-- the one that was told, so the next one is.
-- KEYS lock queue   ARGV client channel_prefix name   -> 1
--@include _line.lua
redis.call("ZREM", KEYS[2], ARGV[1])
if redis.call("EXISTS", KEYS[1]) == 0 then
    wake_next(KEYS[2], ARGV[2], ARGV[3])
end
return 1
